import type { ColumnHints } from "../encoding/json/learn.ts";
import { CompileBudget } from "../encoding/compile-budget.ts";
import { type ParseOptions, parseJson, parseWhole } from "../encoding/json/parse.ts";
import { fastReadMiss } from "../encoding/json/reader.ts";
import { checkJsonCost } from "../encoding/json/cost.ts";
import type { EncodingName } from "../event.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type ConnectMessage, ConnectJsonDecoder, isConnectMessage, isHalved, notConnect, notPayload } from "./connect-json-decoder.ts";
import type { Engine } from "./engine.ts";
import { SchemalessDecoder } from "./schemaless-decoder.ts";
import { rawRoute, type SideRoute, type SideScope } from "./side-route.ts";

/** How many tables of one topic are read with meanings of their own at a time. */
const maxColumnHints = 16;

/** Reads one side of a topic whose bytes are JSON text: with its schema, or plain. */
export class JsonSide {
  /** How the last value was read. */
  route: SideRoute = rawRoute("json");
  /** Of both: they share the topic's bytes. */
  readonly #budget = new CompileBudget();
  readonly #connect: ConnectJsonDecoder;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #parse: ParseOptions;
  /** What columns are read with; each has its own readers. */
  #columns: ColumnHints;
  readonly #plains: BoundedMap<ColumnHints, SchemalessDecoder> = new BoundedMap(maxColumnHints);
  #plain: SchemalessDecoder;
  /** How messages without a schema are parsed. */
  #plainParse: ParseOptions;

  constructor(engine: Engine, scope: SideScope) {
    this.#connect = new ConnectJsonDecoder(engine, scope, this.#budget);
    this.#engine = engine;
    this.#scope = scope;
    this.#parse = engine.parse;
    this.#columns = scope.semantics.columns;
    this.#plain = this.#plainFor(this.#columns);
    this.#plainParse = this.#plainParseFor(this.#columns);
  }

  read(bytes: Buffer, start: number, end: number): unknown {
    if (this.#columns !== this.#scope.semantics.columns) {
      this.#turnTo(this.#scope.semantics.columns);
    }
    checkJsonCost(bytes, start, end, this.#engine.limits);
    const connect = this.#connect.readRecent(bytes, start, end);
    if (connect !== notConnect) {
      return this.#fromConnect(connect, bytes, start, end);
    }
    const plain = this.#plain.readRecent(bytes, start, end);
    return plain === fastReadMiss ? this.#readUnseen(bytes, start, end) : this.#from(this.#plain, plain);
  }

  /** A value of an encoding that has JSON's kinds of values and no schema either. */
  readParsed(encoding: EncodingName, parsed: unknown): unknown {
    if (this.#columns !== this.#scope.semantics.columns) {
      this.#turnTo(this.#scope.semantics.columns);
    }
    const value = this.#plain.convert(encoding, parsed, () => parsed, false);
    return this.#from(this.#plain, value);
  }

  #turnTo(columns: ColumnHints): void {
    this.#columns = columns;
    this.#plain = this.#plainFor(columns);
    this.#plainParse = this.#plainParseFor(columns);
  }

  #plainFor(columns: ColumnHints): SchemalessDecoder {
    let plain = this.#plains.get(columns);
    if (plain === undefined) {
      plain = new SchemalessDecoder(this.#engine, this.#scope, columns, this.#budget);
      this.#plains.set(columns, plain);
    }
    return plain;
  }

  /** Meanings want integers as they are written; without any, the engine's own parser may make doubles of them. */
  #plainParseFor(columns: ColumnHints): ParseOptions {
    const { values, parse } = this.#engine;
    const asDoubles = values.numbers === "double" && values.int64 === "safe" && columns.size === 0;
    return asDoubles ? { ...parse, asDoubles } : parse;
  }

  #readUnseen(bytes: Buffer, start: number, end: number): unknown {
    const value = this.#connect.readUnseen(bytes, start, end);
    return value === notConnect ? this.#readWhole(bytes, start, end) : this.#fromConnect(value, bytes, start, end);
  }

  #fromConnect(value: unknown, bytes: Buffer, start: number, end: number): unknown {
    return value === notPayload ? this.#readWhole(bytes, start, end) : this.#from(this.#connect, value);
  }

  #readWhole(bytes: Buffer, start: number, end: number): unknown {
    const { value: parsed, hasTexts, hasFractions } = parseWhole(bytes, start, end, this.#plainParse);
    const isFinal = this.#plainParse.asDoubles === true && !hasTexts;
    const exact = (): unknown => (hasFractions && this.#parse !== this.#plainParse ? parseJson(bytes, start, end, this.#parse) : parsed);
    if (!isConnectMessage(parsed)) {
      // Of a row with just the columns schema and payload the next message may well be connect-json: it is parsed each time.
      return this.#from(this.#plain, this.#plain.convert("json", parsed, exact, !isHalved(parsed), isFinal));
    }
    if (parsed.schema !== null) {
      const { schema, payload } = exact() as ConnectMessage; // a schema may want the text of numbers
      const value = this.#connect.convert(schema as Record<string, unknown>, payload, bytes, start, end);
      return this.#from(this.#connect, value);
    }
    const exactPayload = (): unknown => (exact() as ConnectMessage).payload;
    return this.#from(this.#plain, this.#plain.convert("connect-json", parsed.payload, exactPayload, false, isFinal));
  }

  /** Called once the value was read: only then its side knows how. */
  #from(side: ConnectJsonDecoder | SchemalessDecoder, value: unknown): unknown {
    this.route = side.route ?? this.route;
    return value;
  }
}
