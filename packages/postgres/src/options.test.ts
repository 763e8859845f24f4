import pg from "pg";
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

test.each<[unknown, string]>([
  [{ create: "no" }, "expected create to be true or false, found string"],
  [{ widen: 1 }, "expected widen to be true or false, found number"],
  [{ create: null }, "expected create to be true or false, found null"],
  [{ tableFor: "x" }, "expected tableFor to be a function that names a table, found string"],
  [{ tableFor: null }, "expected tableFor to be a function that names a table, found null"],
  [{ pool: {} }, "expected pool to be a pool of the package pg, found an object without connect"],
  [{ pool: "postgres://u:secret@h/d" }, "expected pool to be a pool of the package pg, found string"],
])("an option of another type is refused, without its value (%#)", (options, message) => {
  const resolve = (): unknown => resolvePostgresOptions(options as PostgresOptions);
  expect(resolve).toThrow(`[invalid-option] ${message}`);
  expect(resolve).not.toThrow("secret");
});

test("a name without a value is accepted", () => {
  expect(() => resolvePostgresOptions({ connectionstring: undefined } as PostgresOptions)).not.toThrow();
});

test.each(["schema", "checkpointTable"])("a %s whose end PostgreSQL would cut off is refused", (name) => {
  expect(resolvePostgresOptions({ [name]: "é".repeat(31) })).toMatchObject({ [name]: "é".repeat(31) });
  expect(() => resolvePostgresOptions({ [name]: "é".repeat(32) })).toThrow(
    `[invalid-option] expected ${name} to have at most 63 bytes, found 64: PostgreSQL cuts off the rest`,
  );
});

test.each<[unknown, string]>([
  ["postgres://shop:secret#1@db.example.com/shop", "percent-encode the password"],
  ["postgres://shop:secret/1@db.example.com/shop", "percent-encode the password"],
  ["postgres://shop:secret%ff@db.example.com/shop", "percent-encode the password"],
  ["postgres://shop:secret@[db/shop", "percent-encode the password"],
  ["postgres://shop:secret@db.example.com:54x2/shop", "postgres://user:password@host:5432/database"],
  ["host=db user=shop password=secret", "postgres://user:password@host:5432/database"],
  [{ password: "secret" }, "found object"],
])("an address that cannot be read is refused before anything connects, without the password (%#)", (connectionString, words) => {
  const resolve = (): unknown => resolvePostgresOptions({ connectionString } as PostgresOptions);
  expect(resolve).toThrow(words);
  expect(resolve).toThrow("[invalid-option] expected connectionString");
  expect(resolve).not.toThrow("secret");
});

test.each([
  "",
  "/var/run/postgresql shop",
  "socket:/var/run/postgresql?db=shop",
  "postgres://localhost/shop",
  "postgresql://shop:a%23b%2Fc@[::1]:5433/shop?sslmode=require",
  "postgres://shop:100%@db.example.com/my shop",
  "postgres://shop:word@/shop?host=/var/run/postgresql",
  "postgres:///shop?host=/var/run/postgresql",
  "postgres://%2Fvar%2Frun/shop",
  "pg://db.example.com",
])("an address that pg reads is accepted: %s", (connectionString) => {
  expect(resolvePostgresOptions({ connectionString }).connectionString).toBe(connectionString);
  expect(() => new pg.Client({ connectionString })).not.toThrow();
});
