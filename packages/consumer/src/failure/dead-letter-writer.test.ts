import { virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { Fence } from "../delivery/fence.ts";
import { Lease } from "../delivery/lease.ts";
import type { OutgoingRecord } from "../driver.ts";
import { silentLogger } from "../observe/logger.ts";
import { Waits } from "../observe/waits.ts";
import { DeadLetterWriter } from "./dead-letter-writer.ts";

function openFence(): Fence {
  const clock = virtualClock();
  const waits = new Waits({ clock, logger: silentLogger });
  return new Fence(clock, new Lease({ clock, wait: (wait) => waits.open(wait) }));
}

function letterOf(text: string): OutgoingRecord {
  return { topic: "dead", key: null, value: Buffer.from(text), headers: [] };
}

/** A writer whose writes are answered by the test, with the texts of each write. */
function setUp() {
  const writes: string[][] = [];
  const answers: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const writer = new DeadLetterWriter((records) => {
    writes.push(records.map(({ value }) => String(value)));
    return new Promise((resolve, reject) => answers.push({ resolve, reject }));
  });
  const assignment = { topic: "t", partition: 0, epoch: 1 };
  const fence = openFence();
  const write = (text: string, isAlone = false, at = fence) => writer.write(letterOf(text), assignment, at, isAlone);
  return { writes, answers, write };
}

test("letters that come during a write go together with the next one, in their order", async () => {
  const { writes, answers, write } = setUp();
  const first = write("a");
  const others = ["b", "c", "d"].map((text) => write(text));
  expect(writes).toEqual([["a"]]);

  answers[0]?.resolve();
  expect(await first).toBe("written");
  expect(writes).toEqual([["a"], ["b", "c", "d"]]);

  answers[1]?.resolve();
  expect(await Promise.all(others)).toEqual(["written", "written", "written"]);
});

test("a failure of several letters is nobody's own: each is written alone then, and the failure of one is its own", async () => {
  const { writes, answers, write } = setUp();
  const all = ["a", "b", "c"].map((text) => write(text));
  answers[0]?.resolve();
  await all[0];
  const error = new Error("too large");
  answers[1]?.reject(error);
  expect(await Promise.all(all)).toEqual(["written", { error, wasAlone: false }, { error, wasAlone: false }]);

  const alone = ["b", "c"].map((text) => write(text, true));
  answers[2]?.reject(error);
  expect(await alone[0]).toEqual({ error, wasAlone: true });
  answers[3]?.resolve();
  expect(await alone[1]).toBe("written");
  expect(writes.slice(2)).toEqual([["b"], ["c"]]);
});

test("a letter whose partition goes while it waits is not written", async () => {
  const { writes, answers, write } = setUp();
  const fence = openFence();
  const all = [write("a"), write("gone", false, fence), write("b")];
  fence.close();
  answers[0]?.resolve();
  await all[0];
  answers[1]?.resolve();
  expect(await Promise.all(all)).toEqual(["written", "fenced", "written"]);
  expect(writes).toEqual([["a"], ["b"]]);
});

test("what is written together is bounded in number and in bytes", async () => {
  const { writes, answers, write } = setUp();
  const large = "x".repeat(200_000);
  const all = ["a", large, large, ...Array.from({ length: 600 }, () => "y")].map((text) => write(text));
  for (let i = 0; i < 4; i++) {
    answers[i]?.resolve();
    await new Promise(setImmediate);
  }
  expect(writes.map(({ length }) => length)).toEqual([1, 1, 500, 101]);
  expect(await Promise.all(all)).toHaveLength(603);
});
