import { expect, test } from "vitest";
import { Restart } from "./restart.ts";

test.each<[string, Error, boolean]>([
  ["the coordinator was not named", Object.assign(new Error("no coordinator"), { name: "KafkaJSGroupCoordinatorNotFound" }), true],
  ["a login had begun and not ended", Object.assign(new Error("not now"), { type: "ILLEGAL_SASL_STATE" }), true],
  ["a user may not read the group", Object.assign(new Error("no right"), { type: "GROUP_AUTHORIZATION_FAILED" }), false],
])("kafkajs is started again only after what passes: %s", async (_, cause, passes) => {
  let restarted = (): void => {};
  const started = new Promise<void>((resolve) => (restarted = resolve));
  const restart = new Restart({ start: async () => restarted(), failed: () => {}, over: new AbortController().signal });
  restart.joined();
  expect(restart.after(new Error("a crash", { cause }))).toBe(passes);
  await (passes ? started : undefined);
});
