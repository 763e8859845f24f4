import { placeOf } from "@cdckit/driver";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { QuotaWaits } from "./quota-waits.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

function setUp() {
  const open: string[] = [];
  const waiting = ({ place = "" }: { readonly place?: string }) => {
    open.push(place);
    return { failed: () => {}, end: () => void open.splice(open.indexOf(place), 1) };
  };
  const assignments = heldPartitions();
  const [first] = assignments.add([0, 1].map((partition) => ({ topic: "rows", partition })));
  assignments.all().forEach((held) => (held.isStarting = false));
  const sources = new Map([
    [placeOf("rows", 0), 1],
    [placeOf("rows", 1), 2],
  ]);
  return { open, assignments, sources, first, quotas: new QuotaWaits({ waiting } as never, "b:1", assignments) };
}

test("partitions of a broker that holds the client to its quota are waited for, also if it is known only later that it leads them", () => {
  const { open, sources, quotas } = setUp();
  quotas.throttled({ brokerId: 1, throttleTime: 70_000 });
  expect(open).toEqual([]);
  quotas.take(sources);
  expect(open).toEqual(["rows[0]"]);
  vi.advanceTimersByTime(70_000);
  quotas.take(sources);
  expect(open).toEqual([]);
});

test("they are waited for until records come, or the broker says that it holds back no longer", () => {
  const { open, assignments, sources, quotas } = setUp();
  quotas.take(sources);
  quotas.throttled({ brokerId: 1, throttleTime: 70_000 });
  expect(open).toEqual(["rows[0]"]);
  assignments.all().forEach((held) => quotas.end(held));
  quotas.take(sources);
  expect(open).toEqual([]);
  quotas.throttled({ brokerId: 1, throttleTime: 60_000 });
  expect(open).toEqual(["rows[0]"]);
  quotas.throttled({ brokerId: 1, throttleTime: 0 });
  expect(open).toEqual([]);
});

test("a partition that another broker leads is not held back by the quota of the first one, and its wait ends: it may have no records for days", () => {
  const { open, sources, quotas } = setUp();
  quotas.take(sources);
  quotas.throttled({ brokerId: 1, throttleTime: 70_000 });
  expect(open).toEqual(["rows[0]"]);
  quotas.take(new Map([...sources.keys()].map((place) => [place, 2])));
  expect(open).toEqual([]);
  quotas.throttled({ brokerId: 2, throttleTime: 70_000 });
  expect(open).toEqual(["rows[0]", "rows[1]"]);
});
