import { isUtf8 } from "node:buffer";
import { skipByteOrderMark } from "../encoding/json/byte-order-mark.ts";
import { JsonReader } from "../encoding/json/reader.ts";
import { readEverything } from "../encoding/reader.ts";
import type { PlainEncoding } from "../encoding/schema-encoding.ts";
import type { Type } from "../encoding/type.ts";
import { DecodeError } from "../errors.ts";
import type { EncodingName } from "../event.ts";
import { none } from "../framing/none/recognise.ts";
import type { Engine } from "./engine.ts";
import type { JsonSide } from "./json-side.ts";
import type { Failures } from "./pending.ts";
import type { NamedSchema, SchemaSide } from "./schema-side.ts";
import { rawRoute, type SideRoute, type SideScope } from "./side-route.ts";

type Read = (bytes: Buffer, start: number, end: number, failed: Failures | null) => unknown;

/** Reads one side of a topic whose format the user has hinted, because nothing in the bytes tells it. */
export interface HintedDecoder {
  readonly read: Read;
  /** How the last value was read. */
  readonly route: () => SideRoute;
}

/** Null where the user has hinted nothing that decides it. */
export function hintedDecoder(engine: Engine, { hinted }: SideScope, schemas: SchemaSide, json: JsonSide): HintedDecoder | null {
  const { encoding, schemaId, schema, message } = hinted;
  const id = schema?.id ?? schemaId;
  if (id === null) {
    return encoding === null ? null : withoutSchema(engine, encoding, json);
  }
  const named: NamedSchema = {
    framing: none,
    id,
    schema: schema ?? undefined,
    encoding: encoding ?? undefined,
    message: message ?? undefined,
  };
  return {
    read: (bytes, start, end, failed) => schemas.read(named, bytes, start, end, 1, failed),
    route: () => schemas.route ?? rawRoute("bytes"),
  };
}

function withoutSchema(engine: Engine, encoding: EncodingName, json: JsonSide): HintedDecoder {
  switch (encoding) {
    case "json":
    case "connect-json":
      return { read: (bytes, start, end) => json.read(bytes, skipByteOrderMark(bytes, start, end), end), route: () => json.route };
    case "text":
      return raw(encoding, readText);
    case "bytes":
      return raw(encoding, (bytes, start, end) => Buffer.from(bytes.subarray(start, end)));
    default:
      return plain(engine, plainEncoding(engine, encoding), json);
  }
}

function plain(engine: Engine, encoding: PlainEncoding, json: JsonSide): HintedDecoder {
  const { name, type } = encoding;
  return type === undefined
    ? { read: (bytes, start, end) => json.readParsed(name, encoding.parse(bytes, start, end, engine.limits)), route: () => json.route }
    : raw(name, readTyped(engine, encoding, type));
}

/** A value that is no row: what its type becomes by the options for values, and nothing else. */
function readTyped(engine: Engine, encoding: PlainEncoding, type: Type): Read {
  const reader = new JsonReader(encoding.name, type, engine.compileOptions(readEverything));
  return (bytes, start, end) => reader.convert(encoding.parse(bytes, start, end, engine.limits));
}

function raw(encoding: EncodingName, read: Read): HintedDecoder {
  const route = rawRoute(encoding);
  return { read, route: () => route };
}

function plainEncoding({ formats }: Engine, name: EncodingName): PlainEncoding {
  const found = formats.plainEncodings.find((encoding) => encoding.name === name);
  if (found === undefined) {
    const known = ["json", "connect-json", "text", "bytes", ...formats.plainEncodings.map((encoding) => encoding.name)].join(", ");
    throw new DecodeError(
      "unsupported-format",
      `expected an encoding that needs no schema (${known}) in topics[topic], found ${name}: state a schema or schemaId beside it`,
    );
  }
  return found;
}

function readText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.subarray(start, end);
  if (!isUtf8(text)) {
    throw new DecodeError("invalid-utf8", "expected UTF-8 text, as topics[topic] states, found other bytes");
  }
  return text.toString("utf8");
}
