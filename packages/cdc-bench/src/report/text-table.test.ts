import { expect, test } from "vitest";
import { textTable } from "./text-table.ts";

test("columns are as wide as their widest cell, numbers to the right, and no line ends in spaces", () => {
  const text = textTable(
    [{ title: "format", align: "left" }, { title: "msg/s" }, { title: "note", align: "left" }],
    [
      ["avro", "1,234,567", "ok"],
      ["json with schema", "9", ""],
      ["µ", "2.8 µs"],
    ],
  );
  expect(text.split("\n")).toEqual([
    "format                msg/s  note",
    "----------------  ---------  ----",
    "avro              1,234,567  ok",
    "json with schema          9",
    "µ                    2.8 µs",
    "",
  ]);
});

test("a table without rows is its titles", () => {
  expect(textTable([{ title: "a" }], [])).toBe("a\n-\n");
});
