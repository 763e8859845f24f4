import { expect, test } from "vitest";
import { DriverError, isDriverErrorNamed } from "./errors.ts";

class OneDriverError extends DriverError<"invalid-option" | "of-its-client"> {
  override readonly name: string = "OneDriverError";
}

test("an error is told from those of other drivers by its name, also if another copy of a package has made it", () => {
  const error = new OneDriverError("of-its-client", "it gave up");
  const named = Object.assign(new Error("no error of a driver"), { name: "OneDriverError" });
  expect([error, named, null].map((value) => isDriverErrorNamed(value, "OneDriverError"))).toEqual([true, false, false]);
  expect(isDriverErrorNamed(error, "AnotherDriverError")).toBe(false);
  expect(error.message).toBe("[of-its-client] it gave up");
});

test("the JSON form has offsets as text", () => {
  const lost = { topic: "t", partition: 0, firstMissing: 2n, firstAvailable: 5n, end: 10n };
  expect(JSON.parse(JSON.stringify(new DriverError("offset-out-of-range", "gone", { lost })))).toEqual({
    name: "Error",
    code: "offset-out-of-range",
    message: "[offset-out-of-range] gone",
    helpUrl: expect.stringMatching(/docs\/errors\/offset-out-of-range\.md$/) as unknown,
    lost: { ...lost, firstMissing: "2", firstAvailable: "5", end: "10" },
  });
});
