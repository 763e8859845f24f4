import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listCodecs, rowCodecs } from "./codecs-of.ts";
import { measureCodecs } from "./measure-codecs.ts";
import { readDataFile } from "./own-file.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rows-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function fileOf(text: string): Promise<string> {
  const file = join(folder, "rows.json");
  await writeFile(file, text);
  return file;
}

describe("a file of rows", () => {
  const rows = [
    {
      id: 1,
      max: 9_007_199_254_740_991,
      big: 9_007_199_254_740_990,
      price: 1.5,
      tags: ["a"],
      items: [{ n: null }, { n: 1 }],
      note: null,
      place: { city: "Graz", place: { x: 1 } },
      ok: true,
    },
    { id: 2, max: 1, big: 5, price: 2, tags: [], items: [], note: "n", place: { city: "Lyon", place: { x: null } }, ok: false },
  ];

  test.each([
    ["an array", JSON.stringify(rows)],
    ["one object a line", rows.map((row) => JSON.stringify(row)).join("\n")],
  ])("as %s is written and read by every codec", async (_, text) => {
    const set = readDataFile(await fileOf(text));
    const quickly = { rounds: 1, minMs: 0, interrupt: new AbortController().signal, onProgress: () => {} };
    expect(await measureCodecs({ codecs: rowCodecs(set.shape), values: set.rows, ...quickly })).toHaveLength(rowCodecs(set.shape).length);
    expect(await measureCodecs({ codecs: listCodecs(set.shape), values: [set.rows], ...quickly })).toHaveLength(
      listCodecs(set.shape).length,
    );
  });

  test.each([
    ["{", "is not JSON"],
    ["[1]", "holds something else than objects"],
    ["[]", "has no rows"],
    ["", "has no rows"],
    ['[{"a":1},{"b":1}]', 'not every object has "a"'],
    ['[{"a":1},{"a":"x"}]', '"a" has values of several types'],
    ['[{"a b":1}]', 'cannot name a field "a b"'],
  ])("%j is refused with a sentence", async (text, said) => {
    const file = await fileOf(text);
    expect(() => readDataFile(file)).toThrow(said);
  });

  test("that is missing is named", () => {
    expect(() => readDataFile(join(folder, "nowhere.json"))).toThrow("there is no such file");
  });
});
