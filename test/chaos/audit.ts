/** What was handled, in the order in which it was written down, and what follows from that. */

import type { Stall } from "./stall-watch.ts";

export interface Handled {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  /** By the machine's clock, which all members share. */
  readonly atMs: number;
  /** The process that handled it. */
  readonly pid: number;
  /** The turn of that process' event loop in which the handler was called, and when that turn called its first one. */
  readonly turn: number;
  readonly startedMs: number;
}

/** A member was told that these partitions are its own from now on. */
export interface Assigned {
  readonly pid: number;
  readonly atMs: number;
  readonly partitions: readonly number[];
}

/** A member lost these partitions with work under way, by its own word: its session had run out, or its drain took too long. */
export type Loss = Assigned;

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
  /** The process that was frozen. */
  readonly pid?: number;
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
      const [partition = "", offset = "", key = "", ...numbers] = line.split(" ");
      const [atMs = 0, pid = 0, turn = 0, startedMs = 0] = numbers.map(Number);
      return { partition: Number(partition), offset: BigInt(offset), key, atMs, pid, turn, startedMs };
    });
}

/** Sets, orders and windows, never counts: a duplicate must not make up for a loss. */
export function judge(
  produced: readonly Produced[],
  handled: readonly Handled[],
  disturbances: readonly Disturbance[],
  expelledAtMs: readonly number[] = [],
  losses: readonly Loss[] = [],
  stalls: readonly Stall[] = [],
): Verdict {
  const violations: string[] = [];
  const times = new Map<string, number>();
  const lastOfKey = new Map<string, Handled>();
  const highest = new Map<string, bigint>();
  const thaws = disturbances.flatMap((one) => thawOf(one, handled) ?? []);
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
    if (last !== undefined && record.offset <= last.offset) {
      const isExcused =
        disturbances.some((one) => mayPartMembers(one, last, record)) ||
        stalls.some((one) => mayPartMembers({ what: "stall", ...one }, last, record)) ||
        thaws.some((thaw) => last.pid !== record.pid && (hadBegun(last, thaw) || hadBegun(record, thaw))) ||
        expelledAtMs.some((atMs) => last.startedMs <= atMs && atMs <= record.atMs) ||
        losses.some((loss) => isLossOf(last, loss) && loss.atMs <= record.atMs);
      if (!isExcused) {
        violations.push(
          `key ${record.key}: ${id} came after ${last.offset}, and nothing had happened${sinceThen(disturbances, last)}${whose(last, record)}`,
        );
      }
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
 * For as long as its session, a member that no request of reaches the group goes on with what it has in memory, and rightly: the group keeps
 * its partitions for it. What that session did not commit comes again when it is over.
 */
export const sessionMs = 3_000;

/** After this long without a disturbance, nothing that comes again has an excuse. A process that was frozen gets none beyond the freeze. */
function mayPartMembers(
  { what, sinceMs, untilMs }: Pick<Disturbance, "what" | "sinceMs" | "untilMs">,
  last: Handled,
  record: Handled,
): boolean {
  return sinceMs <= record.atMs && untilMs >= last.startedMs - (what === "freeze" ? 0 : sessionMs);
}

/** A process that was frozen goes on. */
interface Thaw {
  readonly pid: number;
  readonly sinceMs: number;
  readonly atMs: number;
  /** The first turn of its event loop that called a handler after that; null if it called none for a session. */
  readonly turn: number | null;
}

function thawOf({ what, pid, sinceMs, untilMs }: Disturbance, handled: readonly Handled[]): Thaw | null {
  if (what !== "freeze" || pid === undefined) {
    return null;
  }
  const first = handled.find((one) => one.pid === pid && one.startedMs >= untilMs && one.startedMs < untilMs + sessionMs);
  return { pid, sinceMs, atMs: untilMs, turn: first?.turn ?? null };
}

/**
 * A frozen process ends what it was at, when it goes on: the handlers that were called before, and the one that it was about to call, having
 * looked at the lease. By then another member may have handled the same records, and more. In any later turn it has to look again.
 */
function hadBegun({ pid, turn, atMs, startedMs }: Handled, thaw: Thaw): boolean {
  return pid === thaw.pid && atMs >= thaw.sinceMs && (startedMs <= thaw.atMs || turn === thaw.turn);
}

/** What the member had handled and not committed when it lost the partition comes again, to whoever has it then. */
function isLossOf({ pid, partition, startedMs }: Handled, loss: Loss): boolean {
  return loss.pid === pid && loss.partitions.includes(partition) && loss.atMs >= startedMs;
}

function sinceThen(disturbances: readonly Disturbance[], { startedMs }: Handled): string {
  const before = disturbances.findLast(({ sinceMs }) => sinceMs <= startedMs);
  return before === undefined ? "" : ` since a ${before.what}, which had been over for ${startedMs - before.untilMs} ms`;
}

function whose(last: Handled, { pid, turn, startedMs }: Handled): string {
  return pid === last.pid
    ? ""
    : `; process ${last.pid} had started it in turn ${last.turn}, process ${pid} in turn ${turn}, ${startedMs - last.startedMs} ms after that`;
}

/** When a broker has taken members out of the group because their session was over, as its own log tells: a busy machine does that too. */
export function expulsions(brokerLog: string, groupId: string): readonly number[] {
  return brokerLog
    .split("\n")
    .filter(
      (line) => line.includes(` in group ${groupId} has failed, removing it`) || line.includes(`Group ${groupId} removed dynamic members`),
    )
    .map((line) => Date.parse(line.slice(0, line.indexOf(" "))));
}

/**
 * Members that go on with a partition that is another one's: what they start after the group has assigned it to that one. What is under way
 * at that moment has no other end: handlers that were called, and those of the same turn of the event loop.
 *
 * The other member must have started a record of the partition by then, too. Its word alone proves nothing: on a busy machine a process hears
 * late of a generation that the group has left since, and says "assigned" after the next owner has.
 */
export function zombies(handled: readonly Handled[], assigned: readonly Assigned[]): readonly string[] {
  const owners = new Map<number, Assigned[]>();
  for (const one of [...assigned].sort((a, b) => a.atMs - b.atMs)) {
    for (const partition of one.partitions) {
      const before = owners.get(partition) ?? [];
      before.push(one);
      owners.set(partition, before);
    }
  }
  const firstStarts = new Map<Assigned, Map<number, number>>();
  const hasStarted = (one: Assigned, { partition, startedMs }: Handled): boolean => {
    let starts = firstStarts.get(one);
    if (starts === undefined) {
      starts = new Map();
      for (const { pid, partition: own, startedMs: atMs } of handled) {
        if (pid === one.pid && atMs >= one.atMs && atMs < (starts.get(own) ?? Number.POSITIVE_INFINITY)) {
          starts.set(own, atMs);
        }
      }
      firstStarts.set(one, starts);
    }
    return (starts.get(partition) ?? Number.POSITIVE_INFINITY) < startedMs;
  };
  const late = new Map<Assigned, Handled[]>();
  for (const record of handled) {
    const reported = owners.get(record.partition) ?? [];
    const own = reported.findLast(({ pid, atMs }) => pid === record.pid && atMs <= record.startedMs);
    const isOthers = reported.some(
      (other) =>
        other.pid !== record.pid &&
        own !== undefined &&
        other.atMs > own.atMs &&
        other.atMs < record.startedMs &&
        hasStarted(other, record),
    );
    if (own !== undefined && isOthers) {
      late.set(own, [...(late.get(own) ?? []), record]);
    }
  }
  return [...late].flatMap(([own, records]) => {
    const turns = new Set(records.map(({ turn }) => turn));
    const first = records[0];
    return turns.size < 2 || first === undefined
      ? []
      : [
          `process ${own.pid} started ${records.length} records in ${turns.size} turns, from ${placeOf(first)} on, ` +
            "after their partitions had been assigned to another member",
        ];
  });
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
