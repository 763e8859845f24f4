import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { bundledRecordings } from "@cdckit/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { fromBundle, fromBundleText, isRegistryError } from "./index.ts";
import { failureOf } from "./registry-server.contract.ts";

const line = (id: number | string, schema = "s"): string => JSON.stringify({ id, schemaType: "AVRO", schema });

function file(name: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function failureOfReading(read: () => unknown): Error {
  try {
    read();
  } catch (error) {
    expect(isRegistryError(error)).toBe(true);
    return error as Error;
  }
  return expect.fail("expected the bundle to be refused");
}

describe("a bundle", () => {
  test("has every schema at hand from the start, plain or gzipped, by path or by URL", async () => {
    const text = `${line(1)}\n\n${line("guid", "t")}\r\n${JSON.stringify({ id: 0, schema: "u", references: [{ name: "n", schema: "v" }] })}`;
    const plain = file("schemas.ndjson", text);
    for (const bundle of [
      fromBundle(plain),
      fromBundle(pathToFileURL(plain)),
      fromBundle(file("x", gzipSync(text))),
      fromBundleText(text),
    ]) {
      expect(bundle.peek(1)).toEqual({ id: 1, schemaType: "AVRO", schema: "s" });
      expect(bundle.peek("guid")?.schema).toBe("t");
      expect(bundle.peek(0)).toEqual({ id: 0, schemaType: "AVRO", schema: "u", references: [{ name: "n", schema: "v" }] });
      expect(await bundle.load(1)).toBe(bundle.peek(1));
    }
  });

  test("taken from a real registry is read", () => {
    const files = new Set(bundledRecordings().map((recording) => recording.schemasFile));
    for (const path of files) {
      expect(() => fromBundle(path)).not.toThrow();
    }
    expect(files.size).toBeGreaterThan(0);
  });

  test("says which of its schemas is missing", async () => {
    const path = file("schemas.ndjson", line(1));
    const failure = await failureOf(fromBundle(path).load(2));
    expect(failure).toMatchObject({ code: "not-found", id: 2 });
    expect(failure.message).toContain(`schema bundle ${JSON.stringify(path)} has no schema id 2 among its 1`);
  });

  test.each([
    ["{", "line 2 is not JSON in UTF-8"],
    ["[]", "line 2 is not a JSON object"],
    [`${"[".repeat(50_000)}`, "line 2 is not JSON"],
    ['{"schema":"x"}', "line 2 has no id"],
    ['{"id":-1,"schema":"x"}', "line 2 has no id"],
    ['{"id":1}', 'line 2 has no "schema" text'],
    ['{"id":1,"schema":{}}', 'line 2 has no "schema" text'],
    ['{"id":1,"schema":"x","schemaType":"XML"}', "line 2 has a schemaType other than"],
    [
      '{"id":1,"schema":"x","references":[{"name":"a","subject":"b","version":1}]}',
      "line 2 has references that are not a list of name and schema",
    ],
    [line(7, "another"), "line 2 gives schema id 7 another schema than an earlier line"],
  ])("names the line that is wrong: %s", (wrong, message) => {
    const failure = failureOfReading(() => fromBundleText(`${line(7)}\n${wrong}\n`, "b.ndjson"));
    expect(failure.message).toContain(`schema bundle "b.ndjson", ${message}`);
  });

  test("may say the same thing twice", () => {
    expect(fromBundleText(`${line(7)}\n${line(7)}`).peek(7)?.id).toBe(7);
  });

  test("that is not there, or whose gzip is broken, is told by its name", () => {
    expect(failureOfReading(() => fromBundle("/nowhere/schemas.ndjson")).message).toContain(
      '"/nowhere/schemas.ndjson" cannot be read: there is no such file',
    );
    expect(failureOfReading(() => fromBundle(tmpdir())).message).toContain("EISDIR");
    expect(failureOfReading(() => fromBundle(file("x.gz", gzipSync(line(1)).subarray(0, 15)))).message).toContain("cannot be read");
  });
});

test("Apicurio's ids are found by their number, unless a line has them as they are", async () => {
  const bundle = fromBundleText([line(5, "five"), line("contentId:5", "content five")].join("\n"));
  expect(bundle.peek("globalId:5")).toEqual({ id: "globalId:5", schemaType: "AVRO", schema: "five" });
  expect(await bundle.load("contentId:5")).toEqual({ id: "contentId:5", schemaType: "AVRO", schema: "content five" });
  expect(bundle.peek("globalId:6")).toBeUndefined();
  expect(bundle.peek("glue:5")).toBeUndefined();
});
