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

/** How many tables of one topic are read with semantics of their own at a time. */
const maxColumnHints = 16;

/** Reads JSON text, with its schema or without, into the reading of its scope. */
export class JsonTextDecoder<Route> {
  readonly #scope: TextScope<Route>;
  /** Of both decoders: they share the topic's bytes. */
  readonly #budget = new CompileBudget();
  readonly #connect: ConnectJsonDecoder<Route>;
  readonly #byColumns: BoundedMap<ColumnHints, SchemalessDecoder<Route>> = new BoundedMap(maxColumnHints);
  readonly #parse: ParseOptions;
  /** What columns are read with, the decoder that does it, and how it wants texts parsed. */
  #columns: ColumnHints | null = null;
  #schemaless: SchemalessDecoder<Route>;
  #schemalessParse: ParseOptions;

  constructor(scope: TextScope<Route>) {
    this.#scope = scope;
    this.#connect = new ConnectJsonDecoder(scope, this.#budget);
    const { limits, texts } = scope.settings;
    this.#parse = { maxDepth: limits.maxDepth, texts };
    this.#schemalessParse = this.#parse;
    this.#schemaless = this.#followSemantics();
  }

  /** Reads all of the bytes. A byte order mark before them is no part of them. */
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

  /** Reads a value of an encoding that has JSON's kinds of values and no schema either. */
  readParsed(encoding: EncodingName, parsed: unknown): void {
    this.#followSemantics().convert({ encoding, parsed, exact: () => parsed, isText: false, isFinal: false, nullIsTombstone: false });
  }

  /** The decoder for the semantics that columns have now. */
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

  /** Semantics want integers as they are written; without any, the engine's own parser may make doubles of them. */
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
      // The message after a row with just the columns schema and payload may well be connect-json: such rows are parsed each time.
      this.#schemaless.convert({ encoding: json.name, parsed, exact, isText: !isHalved(parsed), isFinal, nullIsTombstone: false });
    } else if (parsed.schema === null) {
      const { payload } = parsed;
      const exactPayload = (): unknown => (exact() as ConnectMessage).payload;
      const value = { encoding: connectJson.name, parsed: payload, exact: exactPayload, isText: false, isFinal, nullIsTombstone: true };
      this.#schemaless.convert(value);
    } else {
      const { schema, payload } = exact() as ConnectMessage; // a schema may want the text of numbers
      this.#connect.convert(schema as Record<string, unknown>, payload, (reader) => reader.checkCost(bytes, start, end));
    }
  }
}
