import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { analyze } from "../scenario/snapshot/analysis.ts";
import type { FormatSnapshot } from "../scenario/snapshot/result.ts";
import { analysisSections } from "./snapshot-analysis.ts";

const recorded = new URL("../../../../bench/results/published/a-snapshot.json", import.meta.url);
const { formats } = JSON.parse(readFileSync(recorded, "utf8")) as { readonly formats: readonly FormatSnapshot[] };
const sections = analysisSections(formats, analyze(formats, { storagePerGbMonth: null, trafficPerGb: null }));

test("the winners of a recorded run do not contradict its table of typed columns", () => {
  const table = sections.flatMap(({ blocks }) => blocks).find(({ kind }) => kind === "table");
  expect(table).toMatchObject({ rows: expect.arrayContaining([["typed columns", "12 of 12", "0 of 12", "12 of 12"]]) as unknown });
  const winners = sections.flatMap(({ blocks }) => blocks).find(({ kind }) => kind === "winners");
  expect(winners).toMatchObject({
    rows: expect.arrayContaining([
      { dimension: "typed columns", winner: "JSON + schema and Avro", figure: "12 columns", against: "JSON 0 columns" },
      {
        dimension: "evolution safety",
        winner: "Avro",
        figure: "12 columns in a registry",
        against: "JSON + schema 0 columns in a registry",
      },
    ]) as unknown,
  });
});
