import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readable } from "../../scripts/vectors/readable.mjs";

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ndjson"));

describe("vector files", () => {
  test.each(files)("%s: bytes that are text stand as text", (file) => {
    const lines = readFileSync(join(import.meta.dirname, file), "utf8").split("\n");
    const unreadable = lines.flatMap((line, index) => (readable(line) === line ? [] : [index + 1]));
    expect(unreadable, "lines that `node scripts/vectors/readable.mjs FILE` would rewrite").toEqual([]);
  });

  test.each([
    ["text", '{"a":{"base64":"R8OkLiJv"}}', '{"a":"Gä.\\"o"}'],
    ["JSON between other bytes", '{"hex":"00000001 7b226964223a312c2262223a327d 00"}', '[{"hex":"00000001"},"{\\"id\\":1,\\"b\\":2}",{"hex":"00"}]'],
    ["short JSON stays digits", '{"hex":"00 7b2261223a317d"}', '{"hex":"00 7b2261223a317d"}'],
    ["text that was written as digits by hand stays so", '{"hex":"6162636465666768696a6b6c6d"}', '{"hex":"6162636465666768696a6b6c6d"}'],
    ["other bytes, and what is no bytes", '{"base64":"AP8=","b":1e400,"c":{"base64":"AP8="}}', '{"base64":"AP8=","b":1e400,"c":{"base64":"AP8="}}'],
    ["bytes that no text has", '{"base64":"gICAgICAgICAgICAgICA"}', '{"base64":"gICAgICAgICAgICAgICA"}'],
  ])("%s", (_, written, rewritten) => {
    expect(readable(written)).toBe(rewritten);
  });
});
