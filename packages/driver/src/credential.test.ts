import { inspect } from "node:util";
import { expect, test } from "vitest";
import { askForCredential } from "./credential.ts";
import { DriverError, type MakeDriverError } from "./errors.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const wrong = (given: unknown): string | null => (typeof given === "string" ? null : typeof given);

function ask(give: () => string | Promise<string>): Promise<string> {
  return askForCredential({ option: "sasl.token", expected: "a text", give, wrong, makeError });
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
