import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { int32, record } from "../../codec/shape.ts";
import { loadPlugIn } from "./plug-in.ts";

const shape = record("Row", { id: int32 });
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "plug-in-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function fileOf(text: string): Promise<string> {
  const file = join(folder, `codec-${files++}.mjs`);
  await writeFile(file, text);
  return file;
}

const codec = `{ name: "mine", serialize: (value) => Buffer.from(JSON.stringify(value)), deserialize: (bytes) => JSON.parse(Buffer.from(bytes)) }`;

test.each([
  ["a default export", `export default ${codec};`],
  ["an export of the name codec", `export const codec = ${codec};`],
  ["a list", `export const codecs = [${codec}];`],
  ["a function", `export default () => (${codec});`],
])("%s is a plug-in", async (_, text) => {
  const [loaded] = await loadPlugIn(await fileOf(text), shape);
  expect(await loaded?.deserialize(await loaded.serialize({ id: 1 }))).toEqual({ id: 1 });
});

test("a function gets the rows' schema in every language", async () => {
  const text = `export default (schemas) => ({ ...${codec}, name: JSON.stringify(schemas) });`;
  const [loaded] = await loadPlugIn(await fileOf(text), shape);
  expect(JSON.parse(loaded?.name ?? "")).toEqual({
    avro: { type: "record", name: "Row", fields: [{ name: "id", type: "int" }] },
    jsonSchema: expect.objectContaining({ required: ["id"] }),
    proto: expect.stringContaining("int32 id = 1;"),
    name: "Row",
  });
});

test.each([
  ["export default {};", "is no plug-in: it must export a Codec"],
  ["export default [];", "is no plug-in"],
  ["export const other = 1;", "is no plug-in"],
  ["export default { name: '', serialize() {}, deserialize() {} };", "is no plug-in"],
  ["throw new Error('not today');", "not today"],
  ["export default () => { throw new Error('no schema'); };", "the function that"],
  ["syntax error", "cannot load the codec"],
])("%j is refused with a sentence", async (text, said) => {
  await expect(loadPlugIn(await fileOf(text), shape)).rejects.toThrow(said);
});

test("a file that is not there is named", async () => {
  await expect(loadPlugIn(join(folder, "nowhere.mjs"), shape)).rejects.toThrow("there is no such module");
});
