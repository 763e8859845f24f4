import { expect, test } from "vitest";
import { type PostgresOptions, resolvePostgresOptions } from "./options.ts";

test.each<[unknown, RegExp]>([
  [
    { connectionstring: "postgres://u:secret@h/d" },
    /^\[invalid-option\] connectionstring is no option; the options are pool, connectionString, /,
  ],
  ["postgres://u:secret@h/d", /^\[invalid-option\] expected an object of options, found string$/],
])("an option that there is not is refused with the names that there are, without its value", (options, message) => {
  const resolve = (): unknown => resolvePostgresOptions(options as PostgresOptions);
  expect(resolve).toThrow(message);
  expect(resolve).not.toThrow("secret");
});

test("a name without a value is accepted", () => {
  expect(() => resolvePostgresOptions({ connectionstring: undefined } as PostgresOptions)).not.toThrow();
});
