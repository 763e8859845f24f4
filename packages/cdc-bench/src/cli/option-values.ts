import { isIPv6 } from "node:net";
import { InvalidArgumentError } from "commander";

const countText = /^(\d+(?:\.\d+)?)([km]?)$/i;
const durationText = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/i;
/** As text, because 2.01 * 1e3 is no whole number. */
const exponents: Readonly<Record<string, string>> = { "": "e0", k: "e3", m: "e6" };
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3 };

/** The longest delay of Node's timers, which fire at once after a longer one. */
export const maxDurationMs: number = 2 ** 31 - 1;

/** `500`, `100k`, `2m`: a whole number from 1. */
export function parseCount(text: string): number {
  const [, amount, suffix = ""] = countText.exec(text) ?? [];
  const count = Number(`${amount}${exponents[suffix.toLowerCase()]}`);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new InvalidArgumentError("It must be a whole number from 1, such as 500, 100k or 2m.");
  }
  return count;
}

/** `500ms`, `30s`, `2m`, `1h`, in milliseconds. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = durationText.exec(text) ?? [];
  const durationMs = Number(amount) * (unitMs[unit?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!Number.isFinite(durationMs) || durationMs <= 0) {
    throw new InvalidArgumentError("It must be a duration with its unit, such as 500ms, 30s or 2m.");
  }
  if (durationMs > maxDurationMs) {
    throw new InvalidArgumentError("It must be at most 596h, which is 24 days.");
  }
  return durationMs;
}

/** `a,b c` and repeated flags alike: names in their order, each once. */
export function collectNames(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  if (names.length === 0) {
    throw new InvalidArgumentError("It must be one name or several, separated by commas.");
  }
  return [...new Set([...before, ...names])];
}

/** `--table orders,shop.items`: names of tables, or their ends. A wildcard would show nothing, as a pattern of a consumer would match nothing. */
export function collectTables(text: string, before: readonly string[] = []): readonly string[] {
  const names = collectNames(text, before);
  const wild = names.find((name) => name.includes("*"));
  if (wild !== undefined) {
    throw new InvalidArgumentError(`${wild} has a wildcard: name each table, or leave the option out for all of them.`);
  }
  return names;
}

/** `0,3`: numbers of partitions, each once. */
export function collectPartitions(text: string, before: readonly number[] = []): readonly number[] {
  const numbers = text.split(",").map((part) => part.trim());
  if (!numbers.every((part) => /^\d{1,6}$/.test(part))) {
    throw new InvalidArgumentError("It must be the number of a partition, or several separated by commas.");
  }
  return [...new Set([...before, ...numbers.map(Number)])];
}

/** `host:port`, several separated by commas. */
export function collectBrokers(text: string, before: readonly string[] = []): readonly string[] {
  const brokers = collectNames(text, before);
  for (const broker of brokers) {
    const [, address, name, port] = /^(?:\[([^\]]+)\]|([^\s/:[\]]+)):(\d{1,5})$/.exec(broker) ?? [];
    const isPort = Number(port) >= 1 && Number(port) <= 65_535;
    if (!isPort || (name === undefined && !isIPv6(address ?? ""))) {
      throw new InvalidArgumentError(`${broker} is not host:port, such as localhost:9092 or [::1]:9092.`);
    }
  }
  return brokers;
}

/** An http or https address. */
export function parseRegistryUrl(text: string): string {
  const url = urlOf(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidArgumentError("It must be an address such as http://localhost:8081.");
  }
  return text;
}

function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    // `URL.parse`, which newer versions of Node have, answers null, too.
    return null;
  }
}
