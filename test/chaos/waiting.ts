/** For how long a member waited for one record, and whether its health had it: judged by what the members have written down. */

/** A member had the record in hand: it asked for its schema, or called its handler. */
export interface Reached {
  readonly pid: number;
  readonly atMs: number;
}

/** What a member said of its health. */
export interface HealthWord extends Reached {
  readonly partitions: readonly number[];
  readonly reasons?: readonly string[];
}

/** From when to when one member waited for the record, awake and as the owner of its partition. */
export interface MemberWait {
  readonly pid: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly words: readonly HealthWord[];
}

/** Members say their health four times a second. One that said nothing for so long had no turn of the processor, or was frozen. */
const maxGapMs = 1_000;
/** What is promised, and the time to the next word. */
export const shownWithinMs = 5_000 + maxGapMs;

/**
 * The waits of a partition's record. A session that ran out on a busy machine ends a wait, and so does a gap between two words: the
 * member that goes on, or the next owner, begins one of its own when it reaches the record.
 */
export function memberWaitsOf(partition: number, reached: readonly Reached[], words: readonly HealthWord[]): readonly MemberWait[] {
  return [...new Set(reached.map(({ pid }) => pid))].flatMap((pid) => {
    const own = words.filter((word) => word.pid === pid).toSorted((a, b) => a.atMs - b.atMs);
    const times = reached
      .filter((one) => one.pid === pid)
      .map(({ atMs }) => atMs)
      .toSorted((a, b) => a - b);
    const waits: MemberWait[] = [];
    for (const fromMs of times) {
      if (fromMs <= (waits.at(-1)?.toMs ?? -1)) {
        continue;
      }
      const during: HealthWord[] = [];
      let toMs = fromMs;
      for (const word of own.filter(({ atMs }) => atMs >= fromMs)) {
        if (word.atMs - toMs > maxGapMs || !word.partitions.includes(partition)) {
          break;
        }
        during.push(word);
        toMs = word.atMs;
      }
      waits.push({ pid, fromMs, toMs, words: during });
    }
    return waits;
  });
}

/** Whether the wait was long enough for health to have told of it. */
export function isTelling({ fromMs, toMs }: MemberWait): boolean {
  return toMs - fromMs >= shownWithinMs;
}

/** Whether health named the record's partition in time. */
export function isShown({ fromMs, words }: MemberWait, place: string): boolean {
  return words.some(({ atMs, reasons = [] }) => atMs <= fromMs + shownWithinMs && reasons.some((reason) => reason.includes(place)));
}
