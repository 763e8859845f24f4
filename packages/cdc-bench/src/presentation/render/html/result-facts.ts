import type { BenchResult } from "../../../result/bench-result.ts";
import { formatCount } from "../../../report/quantities.ts";
import type { Section, Table } from "../../document.ts";

/** On what and with what settings it was measured, one fact a row. */
export function factSections({ environment, settings }: BenchResult): readonly Section[] {
  const { cpu, cores, memoryBytes, platform, node, versions } = environment;
  const machine: readonly (readonly [string, string])[] = [
    ["processor", cpu],
    ["cores", String(cores)],
    ["memory", `${(memoryBytes / 1e9).toFixed(1)} GB`],
    ["platform", platform],
    ["Node.js", node],
    ...Object.entries(versions),
  ];
  return [
    { title: "Settings", blocks: [factTable(flatten(settings))] },
    { title: "Environment", blocks: [factTable(machine)] },
  ];
}

/** How the demands were met, in a few words; null if there were none. */
export function verdictWords({ thresholds, baseline }: BenchResult): { readonly text: string; readonly isMet: boolean } | null {
  const missed = thresholds.filter(({ passed }) => !passed).length;
  const worse = baseline.filter(({ regressed }) => regressed).length;
  const said = [
    ...(thresholds.length === 0
      ? []
      : [missed === 0 ? `${thresholds.length} thresholds kept` : `${missed} of ${thresholds.length} thresholds missed`]),
    ...(baseline.length === 0 ? [] : [worse === 0 ? "no regression" : `${worse} of ${baseline.length} figures got worse`]),
  ];
  return said.length === 0 ? null : { text: said.join(", "), isMet: missed + worse === 0 };
}

function factTable(facts: readonly (readonly [string, string])[]): Table {
  return {
    kind: "table",
    columns: [
      { title: "name", align: "left" },
      { title: "value", align: "left" },
    ],
    rows: facts,
  };
}

function flatten(settings: Readonly<Record<string, unknown>>, prefix = ""): readonly (readonly [string, string])[] {
  return Object.entries(settings).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && prefix.split(".").length < 4
      ? flatten(value as Readonly<Record<string, unknown>>, `${prefix}${name}.`)
      : [[`${prefix}${name}`, settingText(value)] as const],
  );
}

function settingText(value: unknown): string {
  if (value === null || value === undefined) {
    return "-";
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return value.join(", ");
  }
  return typeof value === "number" && Number.isInteger(value)
    ? formatCount(value)
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}
