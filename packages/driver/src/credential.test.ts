import { inspect } from "node:util";
import { expect, test } from "vitest";
import { askForCredential, refusedToken } from "./credential.ts";
import { DriverError, type MakeDriverError } from "./errors.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const wrong = (given: unknown): string | null => (typeof given === "string" ? null : typeof given);

function ask(give: () => string | Promise<string>, deadlineMs = 60_000): Promise<string> {
  return askForCredential({ option: "sasl.token", expected: "a text", give, wrong, deadlineMs, makeError });
}

test("what the function gives or promises is the credential", async () => {
  expect([await ask(() => "a"), await ask(async () => "b")]).toEqual(["a", "b"]);
});

test("something else is refused with what was expected and found", async () => {
  const failure = ask(() => undefined as unknown as string);
  await expect(failure).rejects.toMatchObject({
    code: "authentication-failed",
    message: "[authentication-failed] expected the function sasl.token to give a text, found undefined",
  });
});

test.each<[string, () => Promise<string>]>([
  ["rejects", () => Promise.reject(new TypeError("secret123"))],
  [
    "throws",
    () => {
      throw new TypeError("secret123");
    },
  ],
])("nothing of what the function %s with is shown or kept", async (_, give) => {
  const failure: unknown = await ask(give).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringContaining("found TypeError thrown") as string });
  expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain("secret123");
});

test("a function that does not answer is named after the deadline, and what it gives after that is dropped", async () => {
  let answer = (_: string): void => {};
  const asked = ask(() => new Promise<string>((resolve) => (answer = resolve)), 1);
  await expect(asked).rejects.toMatchObject({
    code: "authentication-failed",
    message:
      "[authentication-failed] expected the function sasl.token to give a text, found no answer within 1 ms, which is as long as it may take. " +
      "Keep a token until it expires, and get the next one early",
  });
  answer("late");
});

test.each([
  ["", null],
  ['{"status":"invalid_token"}', "the broker refused the token (invalid_token): it has expired"],
  ['{"status":"insufficient_scope","scope":"kafka"}', "the broker refused the token (insufficient_scope): it has expired"],
  ['{"error":"?"}', "the broker refused the token: it has expired"],
])("the answer %j to a token is read as RFC 7628 has it", (answer, refusal) => {
  const found = refusedToken(Buffer.from(answer));
  expect(refusal === null ? found : found?.slice(0, refusal.length)).toBe(refusal);
});
