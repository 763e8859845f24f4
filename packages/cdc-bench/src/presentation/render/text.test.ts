import { describe, expect, test } from "vitest";
import { styleOf } from "../../report/text-style.ts";
import type { Block, ReportDocument } from "../document.ts";
import { renderText } from "./text.ts";

function documentOf(...blocks: readonly Block[]): ReportDocument {
  return { title: "snapshot", subtitle: "3 formats", isPartial: false, sections: [{ title: "Rates", blocks }] };
}

/** What stands below the title of the section. */
function bodyOf(block: Block, look: Parameters<typeof renderText>[1] = {}): string {
  return renderText(documentOf(block), look).split("\n").slice(4).join("\n");
}

describe("a document as text", () => {
  test("has its title and its sections, and says first if it is not all", () => {
    const document = documentOf({ kind: "paragraph", text: "Said." });
    expect(renderText(document)).toBe("snapshot: 3 formats\n\nRates\n\nSaid.\n");
    expect(renderText({ ...document, isPartial: true })).toMatch(/^ABORTED: what follows is not all of it\.\n\nsnapshot/);
  });

  test("tables have bars in their cells, to an eighth of a character", () => {
    const table: Block = {
      kind: "table",
      columns: [{ title: "format", align: "left" }, { title: "msg/s" }, { title: "errors" }],
      rows: [
        ["Avro", { text: "200", value: 200, bar: 1 }, "0"],
        ["JSON", { text: "91", value: 91, bar: 91 / 200 }, "12"],
        ["none", { text: "0", value: 0, bar: 0 }, "0"],
      ],
    };
    expect(bodyOf(table)).toBe(
      [
        "format                 msg/s  errors",
        "------  --------------------  ------",
        "Avro    200 ████████████████       0",
        "JSON     91 ███████▎              12",
        "none      0                        0",
        "",
      ].join("\n"),
    );
  });

  test("a bar is never longer than its cell", () => {
    const bar = (share: number): string =>
      bodyOf({ kind: "table", columns: [{ title: "x" }], rows: [[{ text: "1", value: 1, bar: share }]] }).split("\n")[2] ?? "";
    expect(bar(7)).toBe(`1 ${"█".repeat(16)}`);
    expect(bar(-1)).toBe("1");
    expect(bar(Number.NaN)).toBe("1");
  });

  test("curves are sparklines with their range, however many points they have", () => {
    const points = Array.from({ length: 300_000 }, (_, i) => [i, i] as const);
    const text = bodyOf({
      kind: "lines",
      title: "rate",
      x: { title: "s" },
      y: { title: "msg/s" },
      markers: [{ x: 4, y: 120_000, label: "knee" }],
      series: [
        { label: "Avro", points },
        { label: "empty", points: [] },
      ],
    });
    expect(text).toMatch(/^Avro +0 +300k {2}▁.*█$/m);
    expect(text).toMatch(/^empty +- +-$/m);
    expect(text).toMatch(/^knee: 120k at 4$/m);
  });

  test("curves have the units of their axes", () => {
    const text = bodyOf({
      kind: "lines",
      title: "latency",
      x: { title: "fetch", unit: "bytes" },
      y: { title: "latency", unit: "ns" },
      markers: [{ x: 1_000_000, y: 124_000_000, label: "knee" }],
      series: [
        {
          label: "Avro",
          points: [
            [1_000, 4_000],
            [1_000_000, 124_000_000],
          ],
        },
      ],
    });
    expect(text).toMatch(/^Avro +4 µs +124 ms {2}/m);
    expect(text).toMatch(/^knee: 124 ms at 1 MB$/m);
  });

  test("bars, stacks, winners, lists and code", () => {
    expect(
      bodyOf({
        kind: "bars",
        title: "size",
        bars: [
          { label: "a", value: 4, text: "4 B" },
          { label: "b", value: 1, text: "1 B" },
        ],
      }),
    ).toContain("b     1 B  ████\n");
    expect(bodyOf({ kind: "bars", title: "none", bars: [] })).toContain("none");
    expect(
      bodyOf({
        kind: "stack",
        title: "time",
        rows: [
          {
            label: "run",
            parts: [
              { label: "fetch", value: 1, text: "1 s" },
              { label: "decode", value: 3, text: "3 s" },
            ],
          },
        ],
      }),
    ).toMatch(/run +1 s +25% +3 s +75%/);
    expect(bodyOf({ kind: "winners", rows: [{ dimension: "size", winner: "Avro", figure: "215 B", against: "JSON, 3.2x" }] })).toMatch(
      /size +Avro +215 B +JSON, 3\.2x/,
    );
    expect(bodyOf({ kind: "list", items: ["one", "two"] })).toBe("- one\n- two\n");
    expect(bodyOf({ kind: "code", language: "json", title: "paste", text: "{\n  1\n}" })).toBe("paste\n  {\n    1\n  }\n");
  });

  test("running text keeps to the terminal's width, and a list's lines hang", () => {
    const text = bodyOf({ kind: "list", items: ["a sentence that is a little longer than forty columns are"] }, { columns: 40 });
    expect(text).toBe("- a sentence that is a little longer\n  than forty columns are\n");
  });

  test("what a result names cannot move the cursor or color the terminal", () => {
    const evil = "a\u001b[31mb\rc";
    const text = renderText({
      ...documentOf(
        { kind: "table", title: evil, columns: [{ title: evil }], rows: [[evil], [{ text: evil, value: 1, bar: 1 }]] },
        { kind: "paragraph", text: evil },
        { kind: "code", language: "text", text: evil },
        { kind: "stack", title: evil, rows: [{ label: evil, parts: [{ label: evil, value: 1, text: evil }] }] },
        { kind: "winners", rows: [{ dimension: evil, winner: evil, figure: evil, against: evil }] },
      ),
      title: evil,
      subtitle: evil,
    });
    // oxlint-disable-next-line no-control-regex -- these must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test("has colors only if they are wanted, and the same text with them", () => {
    const table: Block = {
      kind: "table",
      columns: [{ title: "a" }, { title: "b" }],
      rows: [
        [
          { text: "1", value: 1, bar: 0.5, mark: "best" },
          { text: "2", value: 2, mark: "warning" },
        ],
      ],
    };
    const plain = bodyOf(table);
    // oxlint-disable-next-line no-control-regex -- colors
    const colors = /\u001b\[[\d;]*m/g;
    expect(plain).not.toMatch(colors);
    const colored = bodyOf(table, { style: styleOf({}, true) });
    expect(colored).toMatch(colors);
    expect(colored.replaceAll(colors, "")).toBe(plain);
    expect(bodyOf(table, { style: styleOf({ NO_COLOR: "1" }, true) })).toBe(plain);
    expect(bodyOf(table, { style: styleOf({ NO_COLOR: "1", FORCE_COLOR: "1" }, false) })).toMatch(colors);
  });
});
