import { expect, test } from "vitest";
import { ConsumeLoop } from "./consume-loop.ts";
import type { Answer, ClientError, ClientMessage, LowLevelConsumer } from "./low-level-client.ts";

/** A loop whose calls are answered as the test says, one after the other, and what happens in it. */
function setUp(...answers: readonly (ClientError | null)[]) {
  const events: string[] = [];
  const left = [...answers];
  let isDone = (): void => {};
  const done = new Promise<void>((resolve) => (isDone = resolve));
  const consume = (_: number, answer: Answer<readonly ClientMessage[]>): void => {
    const error = left.shift();
    events.push("call");
    if (error === undefined) {
      isDone();
    }
    setImmediate(() => answer(error, []));
    setImmediate(() => events.push("told")); // of a rebalance: after the answer, in the same turn of the event loop
  };
  const consumer = { setDefaultConsumeTimeout: () => {}, on: () => {}, consume } as unknown as LowLevelConsumer; // as much as is called
  const loop = new ConsumeLoop({ consumer, maxRecords: 10, take: () => undefined });
  return { loop, events, done };
}

test("what is done between two calls comes after all that the first one has brought", async () => {
  const { loop, events, done } = setUp(null);
  loop.start();
  loop.between(() => events.push("between"));
  await done;
  await loop.stop();
  expect(events.slice(0, 3)).toEqual(["call", "told", "between"]);
});

test("what is to follow a call is done after the next one without an error", async () => {
  const { loop, events, done } = setUp(Object.assign(new Error("a partition"), { code: -190 }), null, null);
  loop.between(() => loop.afterCall(() => events.push("after")));
  loop.start();
  await done;
  await loop.stop();
  expect(events.filter((event) => event !== "told").slice(0, 3)).toEqual(["call", "call", "after"]);
});
