import type { WorkInHand } from "./observe/waits.ts";

/**
 * What a stop that gives up still waited for, for its error. A handler that awaits `stop()` waits for itself, which nothing shows but that it
 * never ends: it is told of where the stop was a call.
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
