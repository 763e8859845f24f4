import { describe, expect, test } from "vitest";
import { collectBrokers, collectNames, parseCount, parseDurationMs, parseRegistryUrl } from "./option-values.ts";

describe("counts", () => {
  test.each([
    ["500", 500],
    ["100k", 100_000],
    ["1.5K", 1_500],
    ["2m", 2_000_000],
    ["2.01k", 2_010],
    ["16.1k", 16_100],
    ["4.035m", 4_035_000],
  ])("%s is %d", (text, count) => {
    expect(parseCount(text)).toBe(count);
  });

  test.each(["", "0", "-1", "1.5", "ten", "1e3", "0x10", "9007199254740993k", "1 k"])("%j is refused", (text) => {
    expect(() => parseCount(text)).toThrow("whole number");
  });
});

describe("durations", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5m", 90_000],
    ["1h", 3_600_000],
  ])("%s is %d ms", (text, durationMs) => {
    expect(parseDurationMs(text)).toBe(durationMs);
  });

  test.each(["", "30", "0s", "-1s", "s", "1d"])("%j is refused", (text) => {
    expect(() => parseDurationMs(text)).toThrow("duration with its unit");
  });

  test("one that no timer can wait is refused", () => {
    expect(() => parseDurationMs("597h")).toThrow("at most 596h");
    expect(parseDurationMs("596h")).toBe(596 * 3_600_000);
  });
});

describe("names", () => {
  test("come from commas, spaces and repeated flags, each once", () => {
    expect(collectNames("c,a", collectNames("a, b"))).toEqual(["a", "b", "c"]);
  });

  test("of no name are refused", () => {
    expect(() => collectNames(" , ")).toThrow("one name or several");
  });
});

describe("brokers", () => {
  test("are host and port, an IPv6 address in brackets", () => {
    expect(collectBrokers("localhost:9092,b-1:9093,[::1]:9092")).toEqual(["localhost:9092", "b-1:9093", "[::1]:9092"]);
  });

  test.each([
    "localhost",
    "localhost:",
    ":9092",
    "localhost:0",
    "localhost:70000",
    "http://localhost:9092",
    "a:b:1",
    "::1",
    "::1:9092",
    "[::1]",
    "[b-1]:9092",
    "[::1]:0",
  ])("%j is refused", (text) => {
    expect(() => collectBrokers(text)).toThrow("host:port");
  });
});

describe("registry addresses", () => {
  test("are http or https", () => {
    expect(parseRegistryUrl("http://localhost:8081")).toBe("http://localhost:8081");
  });

  test.each(["", "localhost:8081", "ftp://host", "/relative"])("%j is refused", (text) => {
    expect(() => parseRegistryUrl(text)).toThrow("http://localhost:8081");
  });
});
