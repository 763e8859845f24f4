import { BoundedMap } from "../../bounded-map.ts";
import type { EncodingName } from "../../event.ts";
import { CompileBudget } from "../compile-budget.ts";
import { skipByteOrderMark } from "../json/byte-order-mark.ts";
import { checkJsonCost } from "../json/cost.ts";
import { json } from "../json/encoding.ts";
import { type ParseOptions, parseJson, parseWhole } from "../json/parse.ts";
import { SchemalessDecoder } from "../json/schemaless-decoder.ts";
import type { TextScope } from "../opening.ts";
import type { ColumnHints } from "../reader.ts";
import { ConnectJsonDecoder } from "./decoder.ts";
import { connectJson } from "./encoding.ts";
import { type ConnectMessage, isConnectMessage, isHalved } from "./message.ts";

/** How many tables of one topic can have semantics of their own at a time. */
const maxColumnHints = 16;

/** Reads JSON text, with its schema or without, into the reading of its scope. */
export class JsonTextDecoder<Route> {
  readonly #scope: TextScope<Route>;
  /** Shared by both decoders, because they read the same topic's bytes. */
  readonly #budget = new CompileBudget();
  readonly #connect: ConnectJsonDecoder<Route>;
  readonly #byColumns: BoundedMap<ColumnHints, SchemalessDecoder<Route>> = new BoundedMap(maxColumnHints);
  readonly #parse: ParseOptions;
  /** The semantics of the columns, their decoder, and how it needs texts parsed. */
  #columns: ColumnHints | null = null;
  #schemaless: SchemalessDecoder<Route>;
  #schemalessParse: ParseOptions;

  constructor(scope: TextScope<Route>) {
    this.#scope = scope;
    this.#connect = new ConnectJsonDecoder(scope, this.#budget);
    const { limits } = scope.settings;
    this.#parse = { maxDepth: limits.maxDepth };
    this.#schemalessParse = this.#parse;
    this.#schemaless = this.#followSemantics();
  }

  /** Reads all of the bytes. A byte order mark before them is skipped. */
  read(bytes: Buffer, from: number, end: number): void {
    const start = skipByteOrderMark(bytes, from, end);
    const schemaless = this.#followSemantics();
    checkJsonCost(bytes, start, end, this.#scope.settings.limits);
    const recent = this.#connect.readRecent(bytes, start, end);
    if (recent === "read" || (recent === "not-connect" && schemaless.readRecent(bytes, start, end))) {
      return;
    }
    if (recent === "not-payload" || this.#connect.readUnseen(bytes, start, end) !== "read") {
      this.#readWhole(bytes, start, end);
    }
  }

  /** Reads a value of another encoding without a schema that has JSON's kinds of values. */
  readParsed(encoding: EncodingName, parsed: unknown): void {
    this.#followSemantics().convert({ encoding, parsed, exact: () => parsed, isText: false, isFinal: false, nullIsTombstone: false });
  }

  /** The decoder for the current semantics of the columns. */
  #followSemantics(): SchemalessDecoder<Route> {
    const { columns } = this.#scope.semantics;
    if (this.#columns === columns) {
      return this.#schemaless;
    }
    let decoder = this.#byColumns.get(columns);
    if (decoder === undefined) {
      decoder = new SchemalessDecoder(this.#scope, columns, this.#budget);
      this.#byColumns.set(columns, decoder);
    }
    this.#columns = columns;
    this.#schemaless = decoder;
    this.#schemalessParse = this.#parseFor(columns);
    return decoder;
  }

  /** Columns with semantics need integers as they are written. Without semantics, the engine's own parser may make doubles of them. */
  #parseFor(columns: ColumnHints): ParseOptions {
    const { values } = this.#scope.settings;
    const asDoubles = values.numbers === "double" && values.int64 === "safe" && columns.size === 0;
    return asDoubles ? { ...this.#parse, asDoubles } : this.#parse;
  }

  #readWhole(bytes: Buffer, start: number, end: number): void {
    const parse = this.#schemalessParse;
    const { value: parsed, hasTexts, hasFractions } = parseWhole(bytes, start, end, parse);
    const isFinal = parse.asDoubles === true && !hasTexts;
    const exact = (): unknown => (hasFractions && this.#parse !== parse ? parseJson(bytes, start, end, this.#parse) : parsed);
    if (!isConnectMessage(parsed)) {
      // Rows with exactly the columns schema and payload are parsed each time, because the next message may be connect-json.
      this.#schemaless.convert({ encoding: json.name, parsed, exact, isText: !isHalved(parsed), isFinal, nullIsTombstone: false });
    } else if (parsed.schema === null) {
      const { payload } = parsed;
      const exactPayload = (): unknown => (exact() as ConnectMessage).payload;
      const value = { encoding: connectJson.name, parsed: payload, exact: exactPayload, isText: false, isFinal, nullIsTombstone: true };
      this.#schemaless.convert(value);
    } else {
      const { schema, payload } = exact() as ConnectMessage; // the conversion of a column may need the text of numbers
      this.#connect.convert(schema as Record<string, unknown>, payload, (reader) => reader.checkCost(bytes, start, end));
    }
  }
}
