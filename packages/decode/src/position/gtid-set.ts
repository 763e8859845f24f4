import type { ComparePart } from "./compare-part.ts";

/** Transactions of one server, or of one MariaDB domain, as ranges that include both ends. */
type Ranges = readonly (readonly [first: bigint, last: bigint])[];

/**
 * Compares sets of transactions. Vitess states with them how far it has read a shard: `MySQL56/<uuid>:1-45:47,<uuid>:1-3` or
 * `MariaDB/0-1-270`. A set that contains all of another set comes after it. If each has transactions that the other lacks, the two cannot
 * be compared.
 */
export const asGtidSet: ComparePart = (a, b) => {
  if (a === b) {
    return 0;
  }
  const [left, right] = [parseGtidSet(a), parseGtidSet(b)];
  if (left === null || right === null) {
    return null;
  }
  const isBefore = contains(right, left);
  const isAfter = contains(left, right);
  return isBefore && isAfter ? 0 : isBefore ? -1 : isAfter ? 1 : null;
};

function contains(outer: ReadonlyMap<string, Ranges>, inner: ReadonlyMap<string, Ranges>): boolean {
  return [...inner].every(([server, ranges]) => {
    const whole = outer.get(server) ?? [];
    return ranges.every(([first, last]) => whole.some(([from, to]) => from <= first && last <= to));
  });
}

const maxChars = 65_536;
const mariaGtid = /^(\d{1,10})-\d{1,10}-(\d{1,20})$/;
const range = /^(\d{1,20})(?:-(\d{1,20}))?$/;

function parseGtidSet(text: string): ReadonlyMap<string, Ranges> | null {
  if (text.length > maxChars) {
    return null;
  }
  const servers = new Map<string, Ranges>();
  for (const member of text.slice(text.indexOf("/") + 1).split(",")) {
    const [server, ranges] = parseMember(member.trim());
    if (server === null || servers.has(server)) {
      return null;
    }
    servers.set(server, ranges);
  }
  return servers;
}

function parseMember(member: string): readonly [server: string | null, ranges: Ranges] {
  const maria = mariaGtid.exec(member);
  if (maria !== null) {
    return [maria[1] as string, [[0n, BigInt(maria[2] as string)]]]; // all transactions up to this one
  }
  const [server = "", ...texts] = member.split(":");
  const ranges = texts.map(rangeOf);
  const known = ranges.filter((one) => one !== null);
  return server === "" || known.length === 0 || known.length < ranges.length ? [null, []] : [server.toLowerCase(), joined(known)];
}

function rangeOf(text: string): readonly [first: bigint, last: bigint] | null {
  const found = range.exec(text);
  const first = BigInt(found?.[1] ?? 0);
  const last = BigInt(found?.[2] ?? first);
  return found === null || first > last ? null : [first, last];
}

/** The ranges in order, with adjacent ranges joined: `1-4:5` is the same as `1-5`. */
function joined(ranges: Ranges): Ranges {
  const sorted = [...ranges].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const whole: [bigint, bigint][] = [];
  for (const [first, last] of sorted) {
    const before = whole.at(-1);
    if (before !== undefined && first <= before[1] + 1n) {
      before[1] = last > before[1] ? last : before[1];
    } else {
      whole.push([first, last]);
    }
  }
  return whole;
}
