import { patternOf, type SeenTable } from "./seen-tables.ts";
import { textLiteral } from "./text-literal.ts";
import { propertyName, type RecordNames, rowInterface, valueType, type ValueChoices } from "./value-type.ts";
import { repeatedRecords } from "./repeated-records.ts";
import { type Type, withoutNull } from "@cdckit/decode";

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
    const repeated = repeatedOf(row, name, names, options);
    const mayBeUnavailable = options.withUnavailable && seen.isDebezium;
    blocks.push(`${from}${rowInterface(name, row, options.values, mayBeUnavailable, repeated.names)}`, ...repeated.blocks, ...key.blocks);
    entries.push(`  readonly ${textLiteral(patternOf(seen.table))}: { readonly row: ${name}; readonly key: ${key.type} };\n`);
  }
  const body = `${blocks.join("\n")}\n/** For \`createConsumer<Tables>(...)\`: \`on\` knows the rows of each table. */\nexport interface Tables {\n${entries.join("")}}\n`;
  const needsImport = body.includes("typeof UNAVAILABLE");
  return `${header}${needsImport ? `import type { UNAVAILABLE } from ${textLiteral(options.importFrom)};\n` : ""}\n${body}`;
}

function keyOf(
  { key }: SeenTable,
  name: string,
  names: Set<string>,
  options: DeclarationOptions,
): { readonly type: string; readonly blocks: readonly string[] } {
  if (key === null) {
    return { type: "unknown", blocks: [] };
  }
  const isRecord = withoutNull(key).kind === "record";
  const free = isRecord ? freeName(name, names) : name;
  const repeated = repeatedOf(key, free, names, options);
  return isRecord
    ? { type: free, blocks: [rowInterface(free, key, options.values, false, repeated.names), ...repeated.blocks] }
    : { type: valueType(key, options.values, repeated.names), blocks: repeated.blocks };
}

/** Interfaces for the records that come more than once in a row or a key, each named after it: `InventoryOrdersAddress`. */
function repeatedOf(
  type: Type,
  owner: string,
  names: Set<string>,
  { values }: DeclarationOptions,
): { readonly names: RecordNames; readonly blocks: readonly string[] } {
  const records = repeatedRecords(type, values);
  const named = new Map(records.map((record) => [record, freeName(`${owner}${capitalized(ownName(record.name))}`, names)]));
  return { names: named, blocks: [...named].map(([record, name]) => rowInterface(name, record, values, false, named)) };
}

/** Of `shop.Address`: `Address`. */
function ownName(name: string | null): string {
  return name?.split(".").at(-1) ?? "Record";
}

/** `inventory.order_lines` becomes `InventoryOrderLines`. */
function interfaceName(pattern: string): string {
  const name = capitalized(pattern);
  return /^[A-Za-z]/.test(name) && name !== "Tables" ? name : `Table${name}`;
}

/** Its words, each with a capital letter, and nothing between them. */
function capitalized(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function freeName(wanted: string, names: Set<string>): string {
  let name = wanted;
  for (let number = 2; names.has(name); number++) {
    name = `${wanted}${number}`;
  }
  names.add(name);
  return propertyName(name);
}
