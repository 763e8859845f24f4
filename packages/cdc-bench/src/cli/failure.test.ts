import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { explainFailure } from "./failure.ts";

test("what a server says moves the cursor neither in the sentence nor in the stacks of --debug", async () => {
  const stderr = new PassThrough();
  const { signal: interrupt } = new AbortController();
  const cause = new Error("cause \u001b[2J\u009b2J");
  const error = new Error("refused \u001b[2J\u202e", { cause });
  await explainFailure(error, { stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt }, true);
  const said = String(stderr.read());
  expect(said).toContain("Error: refused ?[2J?\n    at ");
  expect(said).toContain("caused by Error: cause ?[2J?2J\n    at ");
  expect(["\u001b", "\u009b", "\u202e"].filter((character) => said.includes(character))).toEqual([]);
});
