/** What was handled, in the order in which it was written down, and what follows from that. */

export interface Handled {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  /** By the machine's clock, which all members share. */
  readonly atMs: number;
}

/** A moment in which something was killed, stopped or cut: what comes after it may come again. */
export interface Disturbance {
  readonly what: string;
  /** How many lines had been written by then. */
  readonly line: number;
  /** From when on it could be felt, and when it was over. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** By partition: what the group had committed when the disturbance was over. */
  readonly committed: ReadonlyMap<number, bigint>;
}

export interface Produced {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
}

export interface Verdict {
  readonly violations: readonly string[];
  readonly handled: number;
  readonly duplicates: number;
}

export function parseAudit(text: string): readonly Handled[] {
  // A process that is killed leaves no half lines: a line is one write.
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [partition = "", offset = "", key = "", atMs = ""] = line.split(" ");
      return { partition: Number(partition), offset: BigInt(offset), key, atMs: Number(atMs) };
    });
}

/** Sets, orders and windows, never counts: a duplicate must not make up for a loss. */
export function judge(produced: readonly Produced[], handled: readonly Handled[], disturbances: readonly Disturbance[]): Verdict {
  const violations: string[] = [];
  const times = new Map<string, number>();
  const lastOfKey = new Map<string, Handled>();
  const highest = new Map<string, bigint>();
  let duplicates = 0;
  for (const [line, record] of handled.entries()) {
    const id = placeOf(record);
    const isRepeated = times.has(id);
    times.set(id, (times.get(id) ?? 0) + 1);
    if (isRepeated) {
      duplicates++;
      violations.push(...unexplained(record, line, disturbances));
    } else if (record.offset < (highest.get(record.key) ?? -1n)) {
      violations.push(`key ${record.key}: ${id} was handled first after ${highest.get(record.key)}`);
    }
    const last = lastOfKey.get(record.key);
    if (last !== undefined && record.offset <= last.offset && !disturbances.some((one) => mayPartMembers(one, last, record))) {
      violations.push(`key ${record.key}: ${id} came after ${last.offset}, and nothing had happened`);
    }
    lastOfKey.set(record.key, record);
    const seen = highest.get(record.key) ?? -1n;
    highest.set(record.key, record.offset > seen ? record.offset : seen);
  }
  const wanted = new Set(produced.map(placeOf));
  for (const id of wanted) {
    if (!times.has(id)) {
      violations.push(`${id} was never handled`);
    }
  }
  for (const id of times.keys()) {
    if (!wanted.has(id)) {
      violations.push(`${id} was handled and never written`);
    }
  }
  return { violations, handled: handled.length, duplicates };
}

/**
 * A member that the group has given up goes on with what it has in memory until it hears of it, beside the new owner: for as long as its
 * session and a rebalance take, and something for a busy machine. That is not promised away: its commits are refused, and no more.
 */
export const hearingMs = 10_000;

function mayPartMembers({ sinceMs, untilMs }: Disturbance, last: Handled, record: Handled): boolean {
  return sinceMs <= record.atMs && untilMs >= last.atMs - hearingMs;
}

/** Lines may be written between a signal and the moment in which it is noted down. */
const slack = 64;

/** A repetition is explained by a disturbance before it after which its offset was not committed. */
function unexplained({ partition, offset }: Handled, line: number, disturbances: readonly Disturbance[]): readonly string[] {
  const before = disturbances.filter((one) => one.line <= line + slack);
  return before.some(({ committed }) => offset >= (committed.get(partition) ?? 0n))
    ? []
    : [`${partition}:${offset} was handled again at line ${line}, although every disturbance before had left it committed`];
}

/** Of what is committed, what is not handled: must be nothing, at any moment. */
export function uncovered(committed: ReadonlyMap<number, bigint>, handled: ReadonlySet<string>): readonly string[] {
  const missing: string[] = [];
  for (const [partition, next] of committed) {
    for (let offset = 0n; offset < next; offset++) {
      if (!handled.has(`${partition}:${offset}`)) {
        missing.push(`${partition} is committed to ${next}, and ${offset} is not handled`);
      }
    }
  }
  return missing;
}

export function placeOf({ partition, offset }: { readonly partition: number; readonly offset: bigint }): string {
  return `${partition}:${offset}`;
}
