import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readHints } from "./hints.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hints-"));
});

afterAll(() => rm(folder, { recursive: true }));

async function hintsOf(text: string): Promise<unknown> {
  const file = join(folder, "hints.json");
  await writeFile(file, text);
  return readHints(file);
}

test("hints are the topics of createDecoder", async () => {
  const hints = { orders: { value: { encoding: "cbor" }, columns: { made_at: "io.debezium.time.Date" } } };
  expect(await hintsOf(JSON.stringify(hints))).toEqual(hints);
});

test.each([
  ["no JSON", "orders: cbor", "expected one JSON object of hints by topic"],
  ["a list", "[]", "expected one JSON object of hints by topic"],
  ["a hint that is no object", '{"orders":"cbor"}', "the hints of topic orders have (no object)"],
  [
    "a hint that nobody reads",
    '{"orders":{"encoding":"cbor"}}',
    "have encoding; expected table, columns, schemaIdentity, fieldNames, emptyAsTombstone, binaryHandling, key, value",
  ],
])("%s is a usage error that says what is expected", async (_case, text, said) => {
  await expect(hintsOf(text)).rejects.toMatchObject({ code: "usage", message: expect.stringContaining(said) as string });
});

test("a file that is not there is a usage error", () => {
  expect(() => readHints(join(folder, "none.json"))).toThrow("cannot be read");
});
