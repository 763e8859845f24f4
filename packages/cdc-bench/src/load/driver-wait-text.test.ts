import { expect, test, vi } from "vitest";
import { DriverWaits } from "../measure/driver-waits.ts";
import { driverWaitText, whileWaiting } from "./driver-wait-text.ts";

test("the longest wait is said once it has lasted a second, with the last failure if there is one, until it ends", () => {
  let nowMs = 0;
  const waits = new DriverWaits(() => nowMs);
  const longest = (): string | null => (waits.longest === null ? null : driverWaitText(waits.longest));
  const inner = { failed: vi.fn(), end: vi.fn() };
  const topic = waits.watch({ what: "the topic", host: "b:9092", place: "orders" }, inner);
  nowMs += 500;
  const leader = waits.watch({ what: "the leader", place: "items[0]" }, undefined);
  expect(longest()).toBe(null);
  nowMs += 500;
  expect(longest()).toBe("the topic of orders is waited for, from b:9092");
  const cause = new Error("[topic-missing] there is no topic orders.");
  topic.failed(cause);
  expect(longest()).toBe("there is no topic orders");
  topic.end();
  expect([inner.failed.mock.calls, inner.end.mock.calls]).toEqual([[[cause]], [[]]]);
  expect(longest()).toBe(null); // the other one has lasted for half a second
  nowMs += 500;
  expect(longest()).toBe("the leader of items[0] is waited for");
  leader.end();
  expect(longest()).toBe(null);
});

test("what a measurement is doing says what it waits for: the registry before the driver", () => {
  const waitsFor = { wait: { what: "the leader", place: "items[0]" }, cause: null };
  const said = [
    whileWaiting("reading", { isWaitingForRegistry: false, waitsFor: null }),
    whileWaiting("reading", { isWaitingForRegistry: false, waitsFor }),
    whileWaiting("reading", { isWaitingForRegistry: true, waitsFor }),
  ];
  expect(said).toEqual(["reading", "reading: the leader of items[0] is waited for", "reading: waiting for the registry"]);
});
