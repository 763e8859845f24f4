import { DecodeError } from "../../errors.ts";
import type { Columns } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { bytesOfGoQuoted } from "../../values/go-quoted.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { isBlock, numberOrNull } from "../source.ts";
import { sqlTextsOf } from "../sql-columns.ts";

/** A row of the protocol: each column has the code of its MySQL type, its flags and its value. */
export interface Row {
  readonly columns: Columns;
  /** Names of the columns that identify the row. */
  readonly key: readonly string[];
}

/** https://docs.pingcap.com/tidb/stable/ticdc-open-protocol#bit-flags-of-columns */
const binaryFlag = 1;
const handleKeyFlag = 2;
const unsignedFlag = 128;

/**
 * The type codes as the names that DDL uses. The length of a BIT is not stated.
 * https://docs.pingcap.com/tidb/stable/ticdc-open-protocol#column-type-code
 */
const types: ReadonlyMap<number, string> = new Map([
  [0, "decimal"],
  [1, "tinyint"],
  [2, "smallint"],
  [3, "int"],
  [4, "float"],
  [5, "double"],
  [7, "timestamp"],
  [8, "bigint"],
  [9, "mediumint"],
  [10, "date"],
  [11, "time"],
  [12, "datetime"],
  [13, "year"],
  [14, "date"],
  [16, "bit varying"],
  [245, "json"],
  [246, "decimal"],
]);

const firstBlob = 249;
const lastBlob = 252;
const strings: ReadonlySet<number> = new Set([15, 253, 254]);

/** The row, or null if the value is not one. */
export function rowOf(value: unknown, scope: EnvelopeScope): Row | null {
  if (!isBlock(value)) {
    return null;
  }
  const columns: Columns = {};
  const key: string[] = [];
  for (const name of Object.keys(value)) {
    const column = value[name];
    const code = isBlock(column) ? numberOrNull(column["t"]) : null;
    if (!isBlock(column) || code === null) {
      return null;
    }
    const flags = numberOrNull(column["f"]) ?? 0;
    setProperty(columns, name, convert(code, flags, column["v"] ?? null, scope));
    if (column["h"] === true || (flags & handleKeyFlag) !== 0) {
      key.push(name);
    }
  }
  return { columns, key };
}

function convert(code: number, flags: number, value: unknown, scope: EnvelopeScope): unknown {
  const isBinary = (flags & binaryFlag) !== 0;
  if (code >= firstBlob && code <= lastBlob) {
    // Texts have the type codes of blobs too, so they also arrive as base64.
    const bytes = sqlTextsOf(scope, "mysql", "base64").of("blob")(value);
    return isBinary || !Buffer.isBuffer(bytes) ? bytes : bytes.toString("utf8");
  }
  if (strings.has(code)) {
    return isBinary && typeof value === "string" ? unquoted(value) : value;
  }
  const type = types.get(code);
  return type === undefined
    ? value
    : sqlTextsOf(scope, "mysql", "base64").of((flags & unsignedFlag) === 0 ? type : `${type} unsigned`)(value);
}

function unquoted(text: string): Buffer {
  const bytes = bytesOfGoQuoted(text);
  if (bytes === null) {
    throw new DecodeError("value-invalid", "expected a binary column in Go's quoted form, found other text; check what wrote the message");
  }
  return bytes;
}
