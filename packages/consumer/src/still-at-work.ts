import { type WaitReport, waitTexts, type WorkInHand } from "./observe/waits.ts";

/**
 * What a slow stop waits for, for its warning, `health()` and the error at its deadline. If a handler awaits `stop()`, it waits for itself. The only sign is that it
 * never ends, so the error gives a hint if the stop was a call.
 */
export function stillAtWork(work: Iterable<WorkInHand>, isCalled: boolean): string {
  const [first, ...others] = work;
  if (first === undefined) {
    return "";
  }
  const place = first.place === undefined ? "" : ` at ${first.place}`;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const hint = isCalled ? "; if it awaits stop(), it waits for itself: call stop() there without awaiting it" : "";
  return ` (still at work: ${first.what}${place}${more}${hint})`;
}

/**
 * The same while nobody has anything in hand: what must still be handled rests between two attempts, or a dead letter is written. A stop waits for
 * records. What else is waited for, such as a topic that is gone, may have begun earlier, and has nothing to do with it.
 */
export function stillWaitedFor(waits: readonly WaitReport[]): string {
  const first = waits.find(({ place }) => place?.includes("@") === true) ?? waits[0];
  return first === undefined ? "" : ` (${waitTexts([first]).join()}${waits.length === 1 ? "" : `; and ${waits.length - 1} more`})`;
}
