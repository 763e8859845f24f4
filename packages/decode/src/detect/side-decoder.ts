import { isUtf8 } from "node:buffer";
import { JsonTextDecoder } from "../encoding/connect-json/text-decoder.ts";
import type { FastPathMatch } from "../encoding/fast-path.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import { undecodableFormat } from "../framing/undecodable.ts";
import { announced } from "./candidates/announced.ts";
import type { Candidate } from "./candidates/candidate.ts";
import { hinted } from "./candidates/hinted.ts";
import { jsonText } from "./candidates/json-text.ts";
import { prefixed } from "./candidates/prefixed.ts";
import { rawKey } from "./candidates/raw-key.ts";
import type { Engine } from "./engine.ts";
import { matchOf } from "./fast-path/match.ts";
import { FrameReader } from "./frame-reader.ts";
import { SideOpenings } from "./openings.ts";
import { rawRoute, type SideRoute, type SideScope } from "./route.ts";
import { RouteVariants } from "./route-variants.ts";
import { SchemaReader } from "./schema-reader.ts";
import type { Declined, SideMessage } from "./side-message.ts";
import { SideResult } from "./side-result.ts";
import type { SideTools } from "./side-tools.ts";
import { topicOption } from "../topic-option.ts";

/**
 * Reads one side (key or value) of one topic's records. The candidates are asked again for every record. What is remembered of a topic
 * makes reading faster and never changes the result.
 */
export class SideDecoder {
  readonly #side: SideTools;
  readonly #candidates: readonly Candidate[];
  readonly #maxBytes: number;
  /** Whether headers may decide the format. */
  readonly #isAnnounced: boolean;
  /** Whether a hint decides the format, so that no framing is asked. */
  readonly #isHinted: boolean;
  readonly #unknownRoutes = new RouteVariants(({ name }) => ({
    declined: { framing: name, why: "no source knows its schema, and all bytes can be read without it" },
  }));
  readonly #brokenRoutes = new RouteVariants(({ name }) => ({
    declined: { framing: name, why: "the frame is broken, and all bytes can be read without it" },
  }));

  constructor(engine: Engine, scope: SideScope) {
    this.#side = toolsFor(engine, scope);
    this.#maxBytes = engine.limits.maxMessageBytes;
    const beforeBytes = [announced(this.#side), hinted(this.#side)];
    this.#isAnnounced = beforeBytes[0] !== null;
    this.#isHinted = beforeBytes[1] !== null;
    const byBytes = this.#isHinted ? [] : [prefixed(this.#side), jsonText(this.#side), scope.side === "key" ? rawKey(this.#side) : null];
    this.#candidates = [...beforeBytes, ...byBytes].filter((candidate) => candidate !== null);
  }

  /** Reads the side and returns the one result of this decoder, filled in again. Throws a `DecodeError`. */
  read(message: SideMessage): SideResult {
    const length = message.end - message.start;
    if (length > this.#maxBytes) {
      throw tooLong(message, this.#maxBytes);
    }
    this.#side.result.begin();
    for (const candidate of this.#candidates) {
      const { declined } = message;
      const result = declined === null ? candidate.read(message) : readOther(candidate, message, declined);
      if (result !== null) {
        if (declined !== null && result.pending === null) {
          const routes = isOfUnknownSchema(declined.error) ? this.#unknownRoutes : this.#brokenRoutes;
          result.route = routes.of(result.route, declined.framing);
        }
        return result;
      }
    }
    throw message.declined?.error ?? unrecognised(message);
  }

  /** What the fast path compares the next records with if they have this route. Null if that is not certain. */
  matchOf(route: SideRoute): FastPathMatch | null {
    if (this.#isAnnounced) {
      return null;
    }
    return this.#isHinted ? route.fastPath : matchOf(route, this.#side.engine);
  }
}

function isOfUnknownSchema({ code }: DecodeError): boolean {
  return code === "schema-not-found" || code === "schema-source-missing";
}

function toolsFor(engine: Engine, scope: SideScope): SideTools {
  const result = new SideResult(rawRoute(engine, engine.formats.raw.bytes.name));
  const openings = new SideOpenings(engine, scope);
  const schemas = new SchemaReader(engine, scope, { openings, result });
  const { semantics, outerEnvelope } = scope;
  const text = new JsonTextDecoder<SideRoute>({
    settings: engine,
    openings,
    reading: result,
    semantics,
    isEmbedded: outerEnvelope !== null,
  });
  const tools = { engine, scope, result, schemas, text };
  return { ...tools, frames: new FrameReader(tools) };
}

/**
 * Reads a message whose frame was dropped as the next candidates say. If none of them reads it, the error of the frame is thrown, because
 * it tells more.
 */
function readOther(candidate: Candidate, message: SideMessage, { error }: Declined): SideResult | null {
  try {
    return candidate.read(message);
  } catch (thrown) {
    throw isDecodeError(thrown) && !thrown.retriable ? error : thrown;
  }
}

function tooLong({ side, start, end }: SideMessage, maxBytes: number): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected a ${side} of at most ${maxBytes} bytes (limits.maxMessageBytes), found ${end - start}`,
  );
}

function unrecognised({ side, bytes, start, end }: SideMessage): DecodeError {
  if (end === start) {
    return new DecodeError(
      "unknown-format",
      `expected a value, found 0 bytes: a tombstone is null, not empty. If empty values are tombstones on this topic, set ${topicOption("emptyAsTombstone")}`,
    );
  }
  const known = undecodableFormat(bytes, start, end);
  if (known !== null) {
    return new DecodeError("unsupported-format", `expected Confluent framing or JSON, found ${known}`);
  }
  const first = (bytes[start] as number).toString(16).padStart(2, "0");
  const [found, encodings] = isText(bytes.subarray(start, end))
    ? [`${end - start} bytes of other text`, '"text"']
    : [`${end - start} bytes beginning with ${first}`, '"msgpack", "cbor", or "protobuf" and "avro" with a schema'];
  return new DecodeError(
    "unknown-format",
    `expected Confluent framing (byte 0 is 00, then a schema id) or JSON text, found ${found}: if that is what the topic holds, ` +
      `name its encoding (${encodings}) as ${topicOption(`${side}.encoding`)}; if not, the message does not belong to this topic`,
  );
}

/** Text without control characters. Protobuf and other binary encodings of short values may be UTF-8, too, but not without these. */
function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && bytes.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}
