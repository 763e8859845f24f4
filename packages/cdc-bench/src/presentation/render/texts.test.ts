import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReportDocument } from "../document.ts";
import { renderCsv } from "./csv.ts";
import { indentJson } from "./indent-json.ts";
import { escapeMarkdown, renderMarkdown } from "./markdown.ts";

const hostile = '=HYPERLINK("http://evil","x")|</td><script>`*_[a](javascript:b)';

const document: ReportDocument = {
  title: "run",
  subtitle: "what | was * measured",
  isPartial: true,
  sections: [
    {
      title: "Rates",
      blocks: [
        {
          kind: "table",
          columns: [{ title: "topic", align: "left" }, { title: "rate" }, { title: "p99" }, { title: "p99" }],
          rows: [
            [hostile, { text: "1,234", value: 1234.5, mark: "best" }, "-5", "-1+1"],
            ['two "words"\nand a line', { text: "-", value: null }, "@x", "1"],
          ],
        },
        { kind: "bars", title: "Bars", bars: [{ label: "a", value: 2, text: "2 s", spread: [1, 3] }] },
        { kind: "stack", title: "Stages", rows: [{ label: "t", parts: [{ label: "fetch", value: 1, text: "1 s" }] }] },
        { kind: "code", title: "Configuration", language: "json", text: "```\n{}" },
        {
          kind: "lines",
          title: "Curve",
          x: { title: "time", unit: "s" },
          y: { title: "rate", unit: "per-second" },
          series: [
            {
              label: "a",
              points: [
                [0, 1],
                [1, 2_000],
              ],
            },
          ],
          markers: [{ x: 1, y: 2_000, label: "knee" }],
        },
        { kind: "winners", rows: [{ dimension: "storage", winner: "Avro", figure: "215 B", against: "JSON has 679 B" }] },
        { kind: "flame", title: "Profile", subtitle: "Avro", root: { name: "all", valueUs: 2_000, area: "decode", children: [] } },
      ],
    },
  ],
};

describe("CSV", () => {
  const lines = renderCsv([document]).split("\r\n");

  test("has one header row a table, names of their own for columns, and figures in full", () => {
    expect(lines[0]).toBe("report,table,topic,rate,p99,p99 (2)");
    expect(lines[1]).toContain(",1234.5,-5,");
    expect(lines).toContain("report,table,label,value,min,max");
    expect(lines).toContain("run,Bars,a,2,1,3");
    expect(lines).toContain("run,Stages,t,fetch,1");
    expect(lines).toContain("run,Curve,a,1,2000");
    expect(lines).toContain("run,Profile,decode,2000,1");
  });

  test("quotes as RFC 4180 has it, and lets no spreadsheet compute a name", () => {
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil"",""x"")|`);
    expect(lines[1]).toMatch(/,'-1\+1$/);
    expect(renderCsv([document])).toContain('"two ""words""\nand a line",,\'@x,1\r\n');
  });

  test("never has a cell that begins like a formula, unless it is a number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const csv = renderCsv([
          { ...document, sections: [{ title: "t", blocks: [{ kind: "table", columns: [{ title: "a" }], rows: [[text]] }] }] },
        ]);
        const cell = csv.slice(csv.indexOf("run,t,") + "run,t,".length).replace(/^"/, "");
        expect(/^\s*[=+@＝＋－＠-]/.test(cell) && !/^-?\d+(\.\d+)?\r\n$/.test(cell), cell).toBe(false);
      }),
    );
  });
});

describe("Markdown", () => {
  const text = renderMarkdown([document], undefined);

  test("has a table for each table and chart", () => {
    expect(text).toMatch(/^# run\n\nwhat \\\| was \\\* measured\n\n\*\*ABORTED/);
    expect(text).toContain("| topic | rate | p99 | p99 |\n| --- | ---: | ---: | ---: |");
    expect(text).toContain("| a | 2 s | ████████████████████ |");
    expect(text).toContain("| t | 1 s (100%) |");
    expect(text).toContain("| storage | Avro | 215 B | JSON has 679 B |");
    expect(text).toContain("- knee: 2k/s at 1 s");
    expect(text).toContain("````json\n```\n{}\n````");
  });

  test("keeps names text: no markup, no link, no end of a cell", () => {
    expect(text).not.toContain("<script>");
    expect(text).toContain("\\|&lt;/td&gt;&lt;script&gt;\\`\\*\\_\\[a\\](javascript:b)");
    expect(escapeMarkdown("# no heading")).toBe("\\# no heading");
    expect(escapeMarkdown("1. no list\n- either")).toBe("1\\. no list - either");
  });
});

describe("indented JSON", () => {
  test("is the same value, and rounds no number", () => {
    expect(indentJson('{"a":9007199254740993,"b":[1,2.50],"c":{},"d":["x,{"]}')).toBe(
      '{\n  "a": 9007199254740993,\n  "b": [1,2.50],\n  "c": {},\n  "d": [\n    "x,{"\n  ]\n}',
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(JSON.parse(indentJson(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  test("takes a string of megabytes", () => {
    const json = JSON.stringify({ text: '\\"'.repeat(3_000_000) });
    expect(indentJson(json).length).toBe(json.length + "\n  ".length + "\n".length + " ".length);
  });
});
