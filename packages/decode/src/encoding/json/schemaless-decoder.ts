import { BoundedMap } from "../../bounded-map.ts";
import type { EncodingName } from "../../event.ts";
import type { CompileBudget } from "../compile-budget.ts";
import { type FastPathMatch, fastPathMiss } from "../fast-path.ts";
import type { TextScope } from "../opening.ts";
import type { ColumnHints, ReadPlan } from "../reader.ts";
import type { Type } from "../type.ts";
import { minMeteredBytes } from "./cost.ts";
import { areManyNames, learnType, type NamesOf } from "./learn.ts";
import { isJsonObject } from "./parse.ts";
import { JsonReader } from "./reader.ts";
import { type JsonTextReader, jsonTextReader } from "./selecting-reader.ts";

/** A parsed value of an encoding that carries no schema. */
export interface SchemalessValue {
  readonly encoding: EncodingName;
  readonly parsed: unknown;
  /** Parses the same text again and keeps the text of its numbers. */
  readonly exact: () => unknown;
  /** Whether the next text of this shape may be read without parsing it. */
  readonly isText: boolean;
  /** Whether its numbers are in their final form. */
  readonly isFinal: boolean;
  readonly nullIsTombstone: boolean;
}

/** How the values of one shape are read. */
interface ShapeReader<Route> {
  readonly route: Route;
  readonly reader: JsonTextReader;
  /** Whether the envelope needs the text of numbers with a fraction. */
  readonly wantsExact: boolean;
}

const maxRecent = 4;
const maxShapes = 512;
/** Names with more characters than those of a table's columns are data, and not worth remembering. */
const maxSignatureChars = 65_536;
/** What is remembered of a shape takes memory by its names. */
const maxShapesChars = 4_194_304;
const brace = Buffer.from("{");

/**
 * Reads values that carry no schema. It learns their shapes, so that the next JSON text with the same shape is read without parsing it
 * first.
 */
export class SchemalessDecoder<Route> {
  readonly #scope: TextScope<Route>;
  readonly #columns: ColumnHints;
  readonly #budget: CompileBudget;
  #recent: ShapeReader<Route>[] = [];
  readonly #shapes: BoundedMap<string, ShapeReader<Route>> = new BoundedMap(maxShapes, maxShapesChars, (signature) => signature.length);

  constructor(scope: TextScope<Route>, columns: ColumnHints, budget: CompileBudget) {
    this.#scope = scope;
    this.#columns = columns;
    this.#budget = budget;
  }

  /** Reads a text with the spelling of a recent one. False if no recent one has its spelling. */
  readRecent(bytes: Buffer, start: number, end: number): boolean {
    const recent = this.#recent;
    for (let i = 0; i < recent.length; i++) {
      const shape = recent[i] as ShapeReader<Route>;
      const value = shape.reader.readFast(bytes, start, end);
      // A null alone has no shape, although a row in an envelope may be null.
      if (value !== fastPathMiss && value !== null) {
        if (i > 0) {
          recent[i] = recent[0] as ShapeReader<Route>;
          recent[0] = shape; // a shape comes many times in a row
        }
        this.#scope.reading.value = value;
        this.#scope.reading.route = shape.route;
        return true;
      }
    }
    return false;
  }

  convert(value: SchemalessValue): void {
    const { reader, route, wantsExact } = this.#shapeOf(value);
    const { reading } = this.#scope;
    reading.value = wantsExact
      ? reader.convert(value.exact())
      : value.isFinal
        ? reader.convertFinal(value.parsed)
        : reader.convert(value.parsed);
    reading.route = route;
  }

  #shapeOf(value: SchemalessValue): ShapeReader<Route> {
    const { encoding, parsed, isText } = value;
    const namesOf = rememberNames();
    const signature = signatureOf(parsed, namesOf);
    if (signature === null) {
      return this.#learn(value, namesOf);
    }
    const key = `${encoding} ${signature}`;
    const known = this.#shapes.get(key);
    if (known !== undefined) {
      if (isText && this.#recent.includes(known)) {
        known.reader.countMiss();
      } else if (isText) {
        this.#recent = [known, ...this.#recent].slice(0, maxRecent); // a shape that comes again is tried first, before its text is parsed
      }
      return known;
    }
    const shape = this.#learn(value, namesOf);
    this.#shapes.set(key, shape);
    return shape;
  }

  #learn({ encoding, parsed, isText, nullIsTombstone }: SchemalessValue, namesOf: NamesOf): ShapeReader<Route> {
    const { settings, openings } = this.#scope;
    const names = isJsonObject(parsed) ? namesOf(parsed) : null;
    const opening = openings.openingFor({ type: null, names, isText: typeof parsed === "string" });
    const { plan } = opening;
    const type: Type = isJsonObject(parsed) ? learnType(parsed, namesOf, plan, this.#columns) : { kind: "any" };
    const compile = (chosen: ReadPlan): JsonReader =>
      new JsonReader(encoding, type, { ...settings.compileOptions(chosen), compileBudget: this.#budget });
    const reader = jsonTextReader(type, opening, compile);
    const fastPath = isText && names !== null ? this.#fastPathOf(reader, names) : null;
    return { route: opening.routeOf({ encoding, fastPath, nullIsTombstone }), reader, wantsExact: plan.numbers === "exact" };
  }

  /** The names are spread over the whole text, so the prefix is only the brace, and the reader compares the names. */
  #fastPathOf(reader: JsonTextReader, [first]: readonly string[]): FastPathMatch {
    const read = (bytes: Buffer, afterBrace: number, end: number): unknown => {
      const start = afterBrace - brace.length;
      return end - start < minMeteredBytes ? reader.readFast(bytes, start, end) : fastPathMiss;
    };
    const head = first === undefined ? brace : Buffer.from(`{${JSON.stringify(first)}:`);
    return { prefix: brace, head, columns: this.#columns, reader: { read } };
  }
}

/** Caches the names of a value's objects, because listing the names of an object with tens of thousands takes as long as parsing it. */
function rememberNames(): NamesOf {
  const known = new Map<object, readonly string[]>();
  return (object) => {
    let names = known.get(object);
    if (names === undefined) {
      names = Object.keys(object);
      known.set(object, names);
    }
    return names;
  };
}

/** Whether a value, or an object directly inside of it, has more names than a table has columns. */
function isWide(value: Record<string, unknown>, names: readonly string[], namesOf: NamesOf): boolean {
  return areManyNames(names) || names.some((name) => isJsonObject(value[name]) && areManyNames(namesOf(value[name])));
}

/**
 * The names of a value and of the objects directly inside of it, from which the type is learned. Null if they are too many to be columns.
 */
function signatureOf(value: unknown, namesOf: NamesOf): string | null {
  if (!isJsonObject(value)) {
    return typeof value === "string" ? "string" : "";
  }
  const names = namesOf(value);
  if (isWide(value, names, namesOf)) {
    return null;
  }
  const signature = JSON.stringify(names.map((name) => [name, isJsonObject(value[name]) ? namesOf(value[name]) : 0]));
  return signature.length > maxSignatureChars ? null : signature;
}
