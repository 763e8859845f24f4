import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "./decoder.ts";
import type { RegisteredSchema } from "./schema-source.ts";

const text = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const withSchema = text({
  schema: { type: "struct", optional: false, name: "x", fields: [{ type: "int32", optional: false, field: "id" }] },
  payload: { id: 1 },
});
const registered = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), text({ id: 1 })]);
const schema: RegisteredSchema = {
  id: 1,
  schemaType: "JSON",
  schema: `{ "type": "object", "properties": { "id": { "type": "integer" } } }`,
};
const schemas = { peek: () => schema, load: () => Promise.resolve(schema) };

const late = (): Promise<never> => Promise.reject(new Error("late")); // a test with an unhandled rejection fails
const checkedBy = (compile: unknown): unknown => ({ schemas, jsonSchemaValidator: { compile } });
const makesCheck = "compile of the jsonSchemaValidator must return a function that checks a value; it returned";
const checks = "a function of the jsonSchemaValidator must throw a DecodeError if the value breaks a rule, and return nothing; it returned";

test.each([
  ["onSchema", { onSchema: late }, "onSchema must return nothing; it returned a promise, which nobody would await"],
  [
    "selectColumns",
    { selectColumns: late },
    "selectColumns must return a function of table and operation, or null; it returned a promise, which nobody would await",
  ],
  [
    "a selector",
    { selectColumns: () => late },
    "the function of selectColumns must return a Set of column names, or null; it returned a promise, which nobody would await",
  ],
  [
    "a selector with a list",
    { selectColumns: () => () => ["id"] },
    "the function of selectColumns must return a Set of column names, or null; it returned a value of type object",
  ],
  ["a validator without a check", checkedBy(() => {}), `${makesCheck} undefined`],
  ["a validator that compiles late", checkedBy(late), `${makesCheck} a promise, which nobody would await`],
  ["a check that answers late", checkedBy(() => late), `${checks} a promise, which nobody would await`],
  ["a check of ajv's kind", checkedBy(() => () => false), `${checks} false`],
])("%s that answers what it must not is named, and its rejection is nobody's", async (_, options, message) => {
  const decoder = createDecoder(options as DecoderOptions);
  const value = Object.hasOwn(options as object, "jsonSchemaValidator") ? registered : withSchema;
  const decode = async (): Promise<unknown> =>
    decoder.decode({ topic: "t", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null, value });
  await expect(decode()).rejects.toThrow(new TypeError(message));
});

test("a selector that answers nothing takes all columns", async () => {
  const decoder = createDecoder({ selectColumns: () => () => undefined } as unknown as DecoderOptions);
  const events = await decoder.decode({ topic: "t", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null, value: withSchema });
  expect(events).toMatchObject([{ kind: "row", row: { id: 1 } }]);
});
