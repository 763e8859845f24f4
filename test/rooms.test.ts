import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { checkFormatNames } from "../scripts/format-names.mjs";
import { checkFormatTables } from "../scripts/format-tables.mjs";
import { checkRooms } from "../scripts/rooms.mjs";

const root = join(import.meta.dirname, "..");
const copy = mkdtempSync(join(tmpdir(), "cdckit-rooms-"));

afterAll(() => rmSync(copy, { recursive: true, force: true }));

const touched = new Set<string>();

beforeAll(() => {
  const left = new Set(["node_modules", "dist", "recordings"]);
  cpSync(join(root, "packages"), join(copy, "packages"), {
    recursive: true,
    filter: (path) => !left.has(path.split("/").at(-1) ?? ""),
  });
});

afterEach(() => {
  for (const file of touched) {
    rmSync(join(copy, file), { recursive: true });
    if (existsSync(join(root, file))) {
      cpSync(join(root, file), join(copy, file));
    }
  }
  touched.clear();
});

/** What a check says of the copy. */
function complaints(check: (root: string) => readonly string[] = checkRooms): readonly string[] {
  return check(copy);
}

/** The same of the check as a command, one complaint a line. */
function saidBy(script: string): readonly string[] {
  const { stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts", script), copy], { encoding: "utf8" });
  return [...stdout.split("\n"), ...stderr.split("\n")].filter((line) => line !== "");
}

/** Adds lines at the end of a file of the copy, which may be new. */
function plant(file: string, code: string): void {
  touched.add(file);
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  appendFileSync(join(copy, file), `\n${code}\n`);
}

function replaceIn(file: string, from: string, to: string): void {
  touched.add(file);
  const text = readFileSync(join(copy, file), "utf8");
  expect(text).toContain(from);
  writeFileSync(join(copy, file), text.replace(from, to));
}

describe("the room check", () => {
  test("finds nothing against the repository as it is", () => {
    expect(complaints()).toEqual([]);
  });

  test("is a command, too", () => {
    plant("packages/decode/src/utils.ts", "export const a = 1;");
    expect(saidBy("rooms.mjs")).toEqual(complaints());
  });

  const planted: readonly (readonly [title: string, file: string, code: string, sentence: string])[] = [
    [
      "a package that imports one above it",
      "packages/decode/src/record.ts",
      `import "@cdckit/consumer";`,
      "decode must not import consumer",
    ],
    [
      "a type from a package above",
      "packages/decode/src/record.ts",
      `import type { A } from "@cdckit/registry";`,
      "decode must not import registry",
    ],
    [
      "a package above imported when it is needed",
      "packages/decode/src/record.ts",
      `await import("@cdckit/kafkajs");`,
      "decode must not import kafkajs",
    ],
    [
      "a value where only types are allowed",
      "packages/registry/src/index.ts",
      `import { isDecodeError } from "@cdckit/decode";`,
      "types of decode alone",
    ],
    [
      "a path into another package",
      "packages/consumer/src/index.ts",
      `import "../../decode/src/errors.ts";`,
      "reaches out of @cdckit/consumer",
    ],
    ["a door that is none", "packages/consumer/src/index.ts", `import "@cdckit/decode/src/errors.ts";`, "is not a door of @cdckit/decode"],
    ["a test library in a source", "packages/decode/src/errors.ts", `import "vitest";`, "tests alone may"],
    ["a test file in a source", "packages/decode/src/options.ts", `import "./errors.test.ts";`, "imports the test file"],
    ["export *", "packages/decode/src/index.ts", `export * from "./errors.ts";`, "export * hides"],
    ["the own index", "packages/decode/src/decoder.ts", `import "./index.ts";`, "its own package's index.ts"],
    [
      "values that know an encoding",
      "packages/decode/src/values/conversion.ts",
      `import "../encoding/type.ts";`,
      "values must not import encoding",
    ],
    [
      "an encoding that knows an envelope",
      "packages/decode/src/encoding/type.ts",
      `import "../envelope/planted.ts";`,
      "encoding must not import envelope",
    ],
    [
      "a framing that knows an encoding",
      "packages/decode/src/framing/planted/frame.ts",
      `import "../../encoding/type.ts";`,
      "framing/planted must not import encoding",
    ],
    [
      "an encoding that knows another",
      "packages/decode/src/encoding/json/planted.ts",
      `import "../avro/reader.ts";`,
      "encoding/json must not import encoding/avro",
    ],
    [
      "the errors' room, which imports nothing",
      "packages/decode/src/errors.ts",
      `import type { A } from "./event.ts";`,
      "errors must not import event",
    ],
    ["a file in no room", "packages/decode/src/utils.ts", "export const a = 1;", "stands in no room"],
    ["I/O in decode", "packages/decode/src/values/conversion.ts", `import { readFileSync } from "node:fs";`, "does no I/O"],
  ];
  for (const [title, file, code, sentence] of planted) {
    test(`sees ${title}`, () => {
      plant(file, code);
      const found = complaints().filter((line) => line.startsWith(file));
      expect(found.join("\n")).toContain(sentence);
    });
  }

  test("allows connect-json to use json", () => {
    plant("packages/decode/src/encoding/connect-json/planted.ts", `import "../json/planted.ts";`);
    plant("packages/decode/src/encoding/json/planted.ts", "export const a = 1;");
    expect(complaints()).toEqual([]);
  });

  test("sees a cycle of files inside one room", () => {
    plant("packages/decode/src/values/one.ts", `import "./two.ts";`);
    plant("packages/decode/src/values/two.ts", `import "./one.ts";`);
    expect(complaints()).toEqual([expect.stringContaining("is a cycle of files")]);
  });

  test("sees an import that is missing in the dependencies, and one that is missing in the references", () => {
    plant("packages/consumer/src/planted.ts", `import "@cdckit/registry";`);
    replaceIn("packages/consumer/package.json", `"@cdckit/registry": "0.1.0"`, `"@cdckit/other": "0.1.0"`);
    replaceIn("packages/consumer/tsconfig.json", `"../registry"`, `"../elsewhere"`);
    const found = complaints().join("\n");
    expect(found).toContain("not among the dependencies of packages/consumer/package.json");
    expect(found).toContain("not among the references of packages/consumer/tsconfig.json");
  });

  test("sees a package without a row in the table, and a published package that needs a private one", () => {
    touched.add("packages/stranger");
    mkdirSync(join(copy, "packages/stranger/src"), { recursive: true });
    writeFileSync(join(copy, "packages/stranger/package.json"), `{ "name": "stranger", "private": true }`);
    writeFileSync(join(copy, "packages/stranger/tsconfig.json"), "{}");
    replaceIn("packages/registry/package.json", `"dependencies": {`, `"dependencies": { "stranger": "0.1.0",`);
    const found = complaints().join("\n");
    expect(found).toContain("packages/stranger: has no row");
    expect(found).toContain("depends on stranger, which is private");
  });

  test("does not take a comment or a text for an import", () => {
    const code = `// import "@cdckit/consumer"\n/**\n * import { a } from "@cdckit/consumer";\n */\nexport const planted = 'import "x"';`;
    plant("packages/decode/src/errors.ts", code);
    expect(complaints()).toEqual([]);
  });
});

describe("the format name check", () => {
  const said = (): readonly string[] => complaints(checkFormatNames);

  test("finds nothing against the repository as it is", () => {
    expect(said()).toEqual([]);
    expect(saidBy("format-names.mjs")).toEqual([]);
  });

  const planted: readonly (readonly [title: string, file: string, code: string, sentence: string])[] = [
    ["a framing's name in detection", "detect/route.ts", `export const planted = "confluent";`, `names the format "confluent"`],
    ["an envelope's name in another layer", "framing/glue/recognise.ts", `const planted = "ticdc-open";`, `names the format "ticdc-open"`],
    ["an encoding's name in an envelope", "envelope/maxwell/envelope.ts", `const planted = 'avro-json';`, `names the format "avro-json"`],
    ["a name in the decoder", "decoder.ts", "const planted = `json`;", `names the format "json"`],
    [
      "a word of other vocabularies that is meant as a format",
      "envelope/origin.ts",
      `const planted = (route: { encoding: string }) => route.encoding === "json";`,
      `names the format "json"`,
    ],
    ["a word that a case of formats compares", "envelope/origin.ts", `const planted = { framing: "none" };`, `names the format "none"`],
    ["a prefix made of a name in detection", "detect/route.ts", "const planted = `glue:${1}`;", `names the format "glue"`],
    [
      "a prefix made of a word of other vocabularies in detection",
      "detect/route.ts",
      `const planted = "a".startsWith("deltaforge.");`,
      `names the format "deltaforge"`,
    ],
    ["detection that imports a format past the list", "detect/route.ts", `import "../framing/glue/recognise.ts";`, "imports framing/glue"],
  ];
  for (const [title, file, code, sentence] of planted) {
    test(`sees ${title}`, () => {
      plant(`packages/decode/src/${file}`, code);
      const found = said();
      expect(found).toEqual([expect.stringMatching(`^packages/decode/src/${file}:\\d+: `)]);
      expect(found.join()).toContain(sentence);
    });
  }

  test("leaves alone what a format says of itself, comments, and words that mean something else", () => {
    plant("packages/decode/src/framing/confluent/recognise.ts", `const planted = "confluent";`);
    plant("packages/decode/src/detect/route.ts", `// "confluent" is a name\n/* so is "avro" */`);
    plant("packages/decode/src/values/conversion.ts", `const planted = { sql: "json", connector: "mongodb" };`);
    expect(said()).toEqual([]);
  });

  test("sees the name of a format that is new", () => {
    plant("packages/decode/src/framing/made-up/recognise.ts", `export const madeUp = {\n  name: "made-up",\n};`);
    plant("packages/decode/src/detect/route.ts", `const planted = "made-up";`);
    expect(said()).toEqual([expect.stringContaining(`names the format "made-up"`)]);
  });

  test("says what to do with a name that is also a word of a message", () => {
    plant("packages/decode/src/framing/made-up/recognise.ts", `export const madeUp = {\n  name: "made-up",\n};`);
    plant("packages/decode/src/envelope/maxwell/envelope.ts", `const planted = (value: { "made-up": 1 }) => value["made-up"];`);
    expect(said().join()).toContain(`If "made-up" means something else here (a member of a message, a connector), add it to homonyms`);
  });
});

describe("the check of the tables of formats", () => {
  beforeAll(() => {
    for (const file of ["docs/formats.md", "test/contract/format-results.json"]) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
  });

  test("finds nothing against the repository as it is", () => {
    expect(checkFormatTables(copy)).toBe("");
  });

  test.each([
    ["framing", "recognise.ts", "framing/made-up.ndjson"],
    ["encoding", "encoding.ts", "decode/made-up.ndjson"],
    ["envelope", "envelope.ts", "envelope/made-up.ndjson"],
  ])("sees a new %s without a vector, and says where to write one", (layer, file, vectors) => {
    plant(`packages/decode/src/${layer}/made-up/${file}`, `export const madeUp = {\n  name: "made-up",\n};`);
    expect(checkFormatTables(copy)).toContain(`${layer} made-up has no vector that has passed: add a line to test/vectors/${vectors} `);
  });

  test("sees tables that differ from the results", () => {
    replaceIn("docs/formats.md", "| `qlik` |", "| `other` |");
    expect(checkFormatTables(copy)).toBe(
      "docs/formats.md: its tables of formats differ from test/contract/format-results.json. Run: node scripts/format-tables.mjs",
    );
  });
});
