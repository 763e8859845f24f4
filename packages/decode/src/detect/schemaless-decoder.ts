import type { CompileBudget } from "../encoding/compile-budget.ts";
import { areManyNames, type ColumnHints, learnType, type NamesOf } from "../encoding/json/learn.ts";
import { isJsonObject } from "../encoding/json/parse.ts";
import { minMeteredBytes } from "../encoding/json/cost.ts";
import { JsonReader, fastReadMiss } from "../encoding/json/reader.ts";
import type { Type } from "../encoding/type.ts";
import { keyPlan } from "../envelope/debezium/router-key.ts";
import { none } from "../envelope/none/envelope.ts";
import type { EncodingName } from "../event.ts";
import { type FastPathMatch, type FastPathReader, fastPathMiss } from "./fast-path-match.ts";
import { BoundedMap } from "./bounded-map.ts";
import type { Engine } from "./engine.ts";
import { shapeOfValue } from "./shape.ts";
import type { SideRoute, SideScope } from "./side-route.ts";

interface PlainRoute extends SideRoute {
  readonly reader: JsonReader;
  /** Whether its envelope wants the text of numbers that have a fraction. */
  readonly wantsExact: boolean;
}

const recentRoutes = 4;
/** How often a shape of plain JSON must be seen before a reader is generated for it. */
const sightingsBeforeCompiling = 2;
const rememberedShapes = 64;
const brace = Buffer.from("{");
/** Names of more characters than a table's columns have are data: not worth remembering. */
const longestSignature = 65_536;

/** The names of a value without a schema, and how values that have them are read. */
interface LearnedShape {
  route: PlainRoute;
  sightings: number;
}

/**
 * Reads values that carry no schema. Their shapes are learned, so that the next JSON text of that shape is read without parsing it first.
 */
export class SchemalessDecoder {
  /** How the last value was read; null before the first. */
  route: PlainRoute | null = null;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #columns: ColumnHints;
  readonly #budget: CompileBudget;
  #recent: PlainRoute[] = [];
  readonly #shapes: BoundedMap<string, LearnedShape> = new BoundedMap(rememberedShapes);

  constructor(engine: Engine, scope: SideScope, columns: ColumnHints, budget: CompileBudget) {
    this.#budget = budget;
    this.#engine = engine;
    this.#scope = scope;
    this.#columns = columns;
  }

  /** The value of a text that is spelled as a recent one was, or `fastReadMiss`. */
  readRecent(bytes: Buffer, start: number, end: number): unknown {
    const routes = this.#recent;
    for (let i = 0; i < routes.length; i++) {
      const route = routes[i] as PlainRoute;
      const value = route.reader.readFast(bytes, start, end);
      // A null by itself is of no shape, although a row may be null where it stands in another.
      if (value !== fastReadMiss && value !== null) {
        this.route = route;
        if (i > 0) {
          routes[i] = routes[0] as PlainRoute;
          routes[0] = route; // shapes come in runs: a reader that misses through all of one would give up
        }
        return value;
      }
    }
    return fastReadMiss;
  }

  /**
   * What a parsed value becomes. `exact` parses it once more with the text of its numbers kept, where the envelope wants it. `isText`:
   * whether the next text of this shape may be read without parsing it. `isFinal`: whether its numbers are what JSON's own types become.
   */
  convert(encoding: EncodingName, parsed: unknown, exact: () => unknown, isText: boolean, isFinal = false): unknown {
    const route = this.#routeOf(encoding, parsed, isText);
    this.route = route;
    if (route.wantsExact) {
      return route.reader.convert(exact());
    }
    return isFinal ? route.reader.convertFinal(parsed) : route.reader.convert(parsed);
  }

  #routeOf(encoding: EncodingName, parsed: unknown, isText: boolean): PlainRoute {
    const namesOf = rememberNames();
    const names = isJsonObject(parsed) ? namesOf(parsed) : null;
    const signature = signatureOf(parsed, names, namesOf);
    if (signature === null) {
      return this.#learn(encoding, parsed, names, namesOf);
    }
    const key = `${encoding} ${signature}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = { route: this.#learn(encoding, parsed, names, namesOf), sightings: 0 };
      this.#shapes.set(key, shape);
    }
    shape.sightings++;
    if (isText && shape.sightings === sightingsBeforeCompiling) {
      shape.route = { ...shape.route, fastPathMatch: this.#fastPathMatch(shape.route) };
    }
    if (isText && shape.sightings >= sightingsBeforeCompiling) {
      this.#tryFirst(shape.route);
    }
    return shape.route;
  }

  #learn(encoding: EncodingName, parsed: unknown, names: readonly string[] | null, namesOf: NamesOf): PlainRoute {
    const { side, inside } = this.#scope;
    const shape = shapeOfValue(parsed, this.#scope, namesOf);
    const envelopeFormat = side === "key" ? none : (inside ?? this.#engine.envelopeFor(shape));
    const plan = side === "key" ? keyPlan : envelopeFormat.planFor(shape);
    const type: Type = isJsonObject(parsed) && names !== null ? learnType(parsed, namesOf, plan, this.#columns) : { kind: "any" };
    return {
      framing: "none",
      encoding,
      envelope: envelopeFormat.name,
      schemaId: null,
      envelopeFormat,
      fastPathMatch: null,
      shape,
      type: null,
      typeName: null,
      namespaceToCheck: null,
      reader: new JsonReader(encoding, type, { ...this.#engine.compileOptions(plan), compileBudget: this.#budget }),
      wantsExact: plan.numbers === "exact",
    };
  }

  /** Its names tell, which stand all over the text: the reader looks at each. A first one of Apicurio's may begin a frame. */
  #fastPathMatch({ reader, shape }: PlainRoute): FastPathMatch | null {
    if (shape.fields === null || shape.fields[0] === "schemaId") {
      return null;
    }
    const read: FastPathReader["read"] = (bytes, behindBrace, end) => {
      const start = behindBrace - brace.length;
      const value = end - start < minMeteredBytes ? reader.readFast(bytes, start, end) : fastReadMiss;
      return value === fastReadMiss ? fastPathMiss : value;
    };
    return { prefix: brace, columns: this.#columns, reader: { read } };
  }

  /** A shape that comes again is worth trying before its text is parsed. */
  #tryFirst(route: PlainRoute): void {
    if (!this.#recent.includes(route)) {
      this.#recent = [route, ...this.#recent].slice(0, recentRoutes);
    }
  }
}

/** The names of a value's objects, each listed once: a list of tens of thousands takes as long as parsing them. */
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

/** Whether a value, or an object right inside it, has more names than a table has columns. */
function isWide(value: Record<string, unknown>, names: readonly string[], namesOf: NamesOf): boolean {
  return areManyNames(names) || names.some((name) => isJsonObject(value[name]) && areManyNames(namesOf(value[name])));
}

/** The names of a value and of the objects right inside it: what a learned type is made of. Null where they are too many to be columns. */
function signatureOf(value: unknown, names: readonly string[] | null, namesOf: NamesOf): string | null {
  if (!isJsonObject(value) || names === null) {
    return typeof value === "string" ? "text" : "";
  }
  if (isWide(value, names, namesOf)) {
    return null;
  }
  const signature = JSON.stringify(names.map((name) => [name, isJsonObject(value[name]) ? namesOf(value[name]) : 0]));
  return signature.length > longestSignature ? null : signature;
}
