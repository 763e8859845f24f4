import { expect, test } from "vitest";
import { createRunSession, problemOf, titleOf } from "./run-session.ts";

test("a title is the command line, without what logs in", () => {
  const args = [
    "--database=postgres://u:p@ss@db/shop",
    "--sink-url=postgres://db/shop?user=me&password=hunter2",
    "-n",
    "1000",
    "--key",
    "a b",
  ];
  expect(titleOf("drain", args)).toBe("drain --database=postgres://db/shop --sink-url=postgres://db/shop -n 1000 --key 'a b'");
});

test("a problem is what the program says, without the lines of its log", () => {
  const logged = '{"level":40,"time":1795976330775,"name":"cdc-bench","msg":"kafkajs: Connection error: connect ECONNREFUSED"}';
  expect(problemOf(`${logged}\n${logged}\n`)).toBe("");
  expect(problemOf(`${logged}\ncdc-bench: cannot reach Kafka.\n${logged}\n`)).toBe("cdc-bench: cannot reach Kafka.");
  expect(problemOf(`MISSED  rate>5\n${`${logged}\n`.repeat(9)}`)).toBe("MISSED  rate>5");
});

test("a run is measured from the call on, before what it waits for has ended: nobody may begin to look meanwhile", async () => {
  const runs = createRunSession({} as never, {} as never, {}); // nothing is kept, sent or started
  let refuse = (_error: Error): void => {};
  const before = (): Promise<void> => new Promise((_, reject) => (refuse = reject));
  const started = runs.start("drain", [], false, before);
  expect(runs.isRunning).toBe(true);
  await expect(runs.start("drain", [], false, async () => {})).rejects.toThrow("a run is being measured");
  refuse(new Error("the look did not end"));
  await expect(started).rejects.toThrow("the look did not end");
  expect(runs.isRunning).toBe(false);
});
