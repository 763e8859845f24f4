import { BoundedMap } from "../../bounded-map.ts";
import { DecodeError, isDecodeError } from "../../errors.ts";
import type { CompileBudget } from "../compile-budget.ts";
import { type FastPathMatch, fastPathMiss, orFastPathMiss } from "../fast-path.ts";
import { minMeteredBytes } from "../json/cost.ts";
import { parseJson } from "../json/parse.ts";
import type { JsonReader } from "../json/reader.ts";
import { type JsonTextReader, jsonTextReader } from "../json/selecting-reader.ts";
import type { TextScope } from "../opening.ts";
import type { ReadPlan } from "../reader.ts";
import { latin1 } from "../utf8-text.ts";
import { connectReader } from "./encoding.ts";
import { checkSchemaCost, hasConnectType, isConnectSchema, parseConnectSchema } from "./schema.ts";
import { closesEarly, hasPrefix, splitConnectJson } from "./split.ts";

/** How messages with one schema are read. */
interface SchemaReader<Route> {
  readonly route: Route;
  readonly reader: JsonTextReader;
}

interface PrefixReader<Route> extends SchemaReader<Route> {
  /** The bytes from `{"schema":` to `,"payload":`. */
  readonly prefix: Buffer;
}

/** The result for a message: it was read; it does not have this spelling or schema; or its schema is not followed by a payload. */
export type ConnectOutcome = "read" | "not-connect" | "not-payload";

const maxRecent = 16;
const closingBrace = 0x7d;
const schemaKeyLength = '{"schema":'.length;

/**
 * Reads messages that carry their Connect schema. The bytes of the schema half are compared with those of recent messages. If they are
 * equal, only the payload is parsed.
 */
export class ConnectJsonDecoder<Route> {
  readonly #scope: TextScope<Route>;
  readonly #budget: CompileBudget;
  #recent: PrefixReader<Route>[] = [];
  readonly #bySchema: BoundedMap<string, PrefixReader<Route>>;
  /** Readers of messages that are not spelled as JsonConverter spells them, by their schemas. */
  readonly #respelled: BoundedMap<string, SchemaReader<Route>>;

  constructor(scope: TextScope<Route>, budget: CompileBudget) {
    this.#scope = scope;
    this.#budget = budget;
    const { maxSchemas, maxSchemaChars } = scope.settings.limits;
    // Readers of a schema of 1 MB take about 10 MB. So the length of the schema texts is limited too, not only their number.
    this.#bySchema = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
    this.#respelled = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
  }

  /** Reads a message whose schema half is that of a recent message. */
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

  /** Reads the parsed halves of a message that has them in another order, or white space. */
  convert(schema: Record<string, unknown>, payload: unknown, checkCost: (reader: JsonTextReader) => void): void {
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

  /**
   * Reads the payload half alone. If it is no payload, the message may still be plain JSON: a row with an additional column, or with a
   * repeated name.
   */
  #readPayload({ prefix, reader, route }: PrefixReader<Route>, bytes: Buffer, start: number, end: number): ConnectOutcome {
    const payloadStart = start + prefix.length;
    if (end - start >= minMeteredBytes) {
      if (closesEarly(bytes, payloadStart, end - 1)) {
        return "not-payload"; // found by the brackets, before a MiB is read in vain
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

  /** How messages with this prefix are read; null if the prefix holds no Connect schema. */
  #knownFor(prefix: Buffer, schemaEnd: number): PrefixReader<Route> | null {
    const text = latin1(prefix, schemaKeyLength, schemaEnd);
    let known = this.#bySchema.get(text);
    if (known === undefined) {
      const { limits } = this.#scope.settings;
      const schema = parseJson(prefix, schemaKeyLength, schemaEnd, { maxDepth: limits.maxDepth });
      if (!isConnectSchema(schema) || !hasConnectType(schema)) {
        return null; // the whole message must be parsed: it may be a row with columns of these names
      }
      const own = Buffer.from(prefix);
      known = { ...this.#compile(schema, text, (reader) => fastPathOf(own, reader)), prefix: own };
      this.#bySchema.set(text, known);
    }
    this.#recent = [known, ...this.#recent.filter((other) => other !== known)].slice(0, maxRecent);
    return known;
  }

  #compile(schema: unknown, text: string, fastPath: (reader: JsonTextReader) => FastPathMatch | null): SchemaReader<Route> {
    const { settings, openings, isEmbedded } = this.#scope;
    const { limits } = settings;
    checkSchemaLength(text.length, limits.maxSchemaChars);
    checkSchemaCost(schema, text.length, limits, isEmbedded);
    const type = parseConnectSchema(schema, "the schema", limits.maxDepth);
    const opening = openings.openingFor({ type });
    const compile = (plan: ReadPlan): JsonReader => connectReader(type, { ...settings.compileOptions(plan), compileBudget: this.#budget });
    const reader = jsonTextReader(type, opening, compile);
    return { route: opening.routeOf({ encoding: reader.encoding, fastPath: fastPath(reader), nullIsTombstone: true }), reader };
  }
}

/**
 * Makes the fast path of a prefix. If a read fails, the message takes the slow path, because it may be other JSON. So does a message that
 * is so long that its cost must be checked first.
 */
function fastPathOf(prefix: Buffer, reader: JsonTextReader): FastPathMatch {
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
