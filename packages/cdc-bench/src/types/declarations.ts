import { patternOf, type SeenTable } from "./seen-tables.ts";
import { propertyName, rowInterface, valueType, type ValueChoices } from "./value-type.ts";
import { withoutNull } from "@cdckit/decode";

export interface DeclarationOptions {
  readonly values: ValueChoices;
  /** The package that `UNAVAILABLE` is imported from. */
  readonly importFrom: string;
  /** Whether large columns may be UNAVAILABLE. */
  readonly withUnavailable: boolean;
}

const header = "// Written by `cdc-bench types`. Do not edit: run it again.\n";

/** The TypeScript of some tables: an interface for each row and key, and the map that `createConsumer<Tables>` takes. The same tables give the same text. */
export function declarationsOf(tables: readonly SeenTable[], options: DeclarationOptions): string {
  const names = new Set<string>();
  const blocks: string[] = [];
  const entries: string[] = [];
  for (const seen of tables) {
    const name = freeName(interfaceName(patternOf(seen.table)), names);
    const key = keyOf(seen, `${name}Key`, names, options);
    const from = seen.inferredFrom === null ? "" : `/** No schema states these columns: they are what ${seen.inferredFrom} rows had. */\n`;
    const row = seen.row ?? { kind: "any" };
    blocks.push(`${from}${rowInterface(name, row, options.values, options.withUnavailable && seen.isDebezium)}`, ...key.blocks);
    entries.push(`  readonly ${JSON.stringify(patternOf(seen.table))}: { readonly row: ${name}; readonly key: ${key.type} };\n`);
  }
  const body = `${blocks.join("\n")}\n/** For \`createConsumer<Tables>(...)\`: \`on\` knows the rows of each table. */\nexport interface Tables {\n${entries.join("")}}\n`;
  const needsImport = body.includes("typeof UNAVAILABLE");
  return `${header}${needsImport ? `import type { UNAVAILABLE } from ${JSON.stringify(options.importFrom)};\n` : ""}\n${body}`;
}

function keyOf(
  { key }: SeenTable,
  name: string,
  names: Set<string>,
  { values }: DeclarationOptions,
): { readonly type: string; readonly blocks: readonly string[] } {
  if (key === null) {
    return { type: "unknown", blocks: [] };
  }
  if (withoutNull(key).kind !== "record") {
    return { type: valueType(key, values), blocks: [] };
  }
  const free = freeName(name, names);
  return { type: free, blocks: [rowInterface(free, key, values, false)] };
}

/** `inventory.order_lines` becomes `InventoryOrderLines`. */
function interfaceName(pattern: string): string {
  const words = pattern.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(name) && name !== "Tables" ? name : `Table${name}`;
}

function freeName(wanted: string, names: Set<string>): string {
  let name = wanted;
  for (let number = 2; names.has(name); number++) {
    name = `${wanted}${number}`;
  }
  names.add(name);
  return propertyName(name);
}
