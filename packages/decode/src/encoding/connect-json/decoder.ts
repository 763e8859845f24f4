import { BoundedMap } from "../../bounded-map.ts";
import { DecodeError, isDecodeError } from "../../errors.ts";
import type { CompileBudget } from "../compile-budget.ts";
import { type FastPathMatch, fastPathMiss, orFastPathMiss } from "../fast-path.ts";
import { minMeteredBytes } from "../json/cost.ts";
import { parseJson } from "../json/parse.ts";
import type { JsonReader } from "../json/reader.ts";
import type { TextScope } from "../opening.ts";
import { latin1 } from "../text-cache.ts";
import { connectReader } from "./encoding.ts";
import { checkSchemaCost, hasConnectType, isConnectSchema, parseConnectSchema } from "./schema.ts";
import { closesEarly, hasPrefix, splitConnectJson } from "./split.ts";

/** How messages with one schema are read. */
interface SchemaReader<Route> {
  readonly route: Route;
  readonly reader: JsonReader;
}

interface PrefixReader<Route> extends SchemaReader<Route> {
  /** `{"schema":` ... `,"payload":`, byte for byte. */
  readonly prefix: Buffer;
}

/** What came of a message: it was read, it is no message of this spelling or schema, or what follows its schema is no payload. */
export type ConnectOutcome = "read" | "not-connect" | "not-payload";

const maxRecent = 4;
const closingBrace = 0x7d;
const schemaKeyLength = '{"schema":'.length;

/**
 * Reads messages that carry their Connect schema. The schema half is compared with the last ones' bytes, so that only the payload is
 * parsed.
 */
export class ConnectJsonDecoder<Route> {
  readonly #scope: TextScope<Route>;
  readonly #budget: CompileBudget;
  #recent: PrefixReader<Route>[] = [];
  readonly #bySchema: BoundedMap<string, PrefixReader<Route>>;
  /** Schemas of messages that are not spelled as JsonConverter spells them. */
  readonly #respelled: BoundedMap<string, SchemaReader<Route>>;

  constructor(scope: TextScope<Route>, budget: CompileBudget) {
    this.#scope = scope;
    this.#budget = budget;
    const { maxSchemas, maxSchemaChars } = scope.settings.limits;
    // A schema of a megabyte becomes ten of readers: what is remembered is bounded by its text, not by its number alone.
    this.#bySchema = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
    this.#respelled = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
  }

  /** Reads a message whose schema half is that of a recent one. */
  readRecent(bytes: Buffer, start: number, end: number): ConnectOutcome {
    for (const known of this.#recent) {
      if (hasPrefix(bytes, start, end, known.prefix)) {
        return this.#readPayload(known, bytes, start, end);
      }
    }
    return "not-connect";
  }

  /** Reads a message that is spelled as JsonConverter spells it. */
  readUnseen(bytes: Buffer, start: number, end: number): ConnectOutcome {
    const split = splitConnectJson(bytes, start, end);
    const known = split === null ? null : this.#knownFor(bytes.subarray(start, split.payloadStart), split.schemaEnd - start);
    return known === null ? "not-connect" : this.#readPayload(known, bytes, start, end);
  }

  /** Reads the parsed halves of a message that spells them in another order, or with white space. */
  convert(schema: Record<string, unknown>, payload: unknown, checkCost: (reader: JsonReader) => void): void {
    const text = JSON.stringify(schema, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    let known = this.#respelled.get(text);
    if (known === undefined) {
      known = this.#compile(schema, text, () => null);
      this.#respelled.set(text, known);
    }
    checkCost(known.reader);
    this.#scope.reading.value = known.reader.convert(payload);
    this.#scope.reading.route = known.route;
  }

  /** The payload half alone. If it is no payload, the message may still be JSON: a row with a column more, a name that stands twice. */
  #readPayload({ prefix, reader, route }: PrefixReader<Route>, bytes: Buffer, start: number, end: number): ConnectOutcome {
    const payloadStart = start + prefix.length;
    if (end - start >= minMeteredBytes) {
      if (closesEarly(bytes, payloadStart, end - 1)) {
        return "not-payload"; // told before a MiB is read in vain
      }
      reader.checkCost(bytes, start, end);
    }
    try {
      this.#scope.reading.value = reader.readPart(bytes, payloadStart, end - 1);
      this.#scope.reading.route = route;
      return "read";
    } catch (error) {
      if (!isDecodeError(error) || error.code !== "trailing-bytes") {
        throw error;
      }
      return "not-payload";
    }
  }

  /** How messages with this prefix are read; null if what stands in it is no Connect schema. */
  #knownFor(prefix: Buffer, schemaEnd: number): PrefixReader<Route> | null {
    const text = latin1(prefix, schemaKeyLength, schemaEnd);
    let known = this.#bySchema.get(text);
    if (known === undefined) {
      const { limits, texts } = this.#scope.settings;
      const schema = parseJson(prefix, schemaKeyLength, schemaEnd, { maxDepth: limits.maxDepth, texts });
      if (!isConnectSchema(schema) || !hasConnectType(schema)) {
        return null; // the whole message decides: it may be a row with columns of these names
      }
      const own = Buffer.from(prefix);
      known = { ...this.#compile(schema, text, (reader) => fastPathOf(own, reader)), prefix: own };
      this.#bySchema.set(text, known);
    }
    this.#recent = [known, ...this.#recent.filter((other) => other !== known)].slice(0, maxRecent);
    return known;
  }

  #compile(schema: unknown, text: string, fastPath: (reader: JsonReader) => FastPathMatch | null): SchemaReader<Route> {
    const { settings, openings, isEmbedded } = this.#scope;
    const { limits } = settings;
    checkSchemaLength(text.length, limits.maxSchemaChars);
    checkSchemaCost(schema, text.length, limits, isEmbedded);
    const type = parseConnectSchema(schema, "the schema", limits.maxDepth);
    const opening = openings.openingFor({ type });
    const reader = connectReader(type, { ...settings.compileOptions(opening.plan), compileBudget: this.#budget });
    return { route: opening.routeOf({ encoding: reader.encoding, fastPath: fastPath(reader), nullIsTombstone: true }), reader };
  }
}

/** What ends in an error takes the slow path: it may be JSON of another kind all the same. So does what must be metered first. */
function fastPathOf(prefix: Buffer, reader: JsonReader): FastPathMatch {
  const read = orFastPathMiss((bytes, start, end) => reader.readPart(bytes, start, end - 1));
  const isUnmetered = (start: number, end: number): boolean => prefix.length + end - start < minMeteredBytes;
  return {
    prefix,
    reader: {
      read: (bytes, start, end) => (isUnmetered(start, end) && bytes[end - 1] === closingBrace ? read(bytes, start, end) : fastPathMiss),
    },
    columns: null,
  };
}

function checkSchemaLength(length: number, max: number): void {
  if (length > max) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a Connect schema of at most ${max} characters (limits.maxSchemaChars), found ${length}`,
    );
  }
}
