import { JsonReader } from "../../encoding/json/reader.ts";
import { readEverything } from "../../encoding/reader.ts";
import type { PlainEncoding } from "../../encoding/schema-encoding.ts";
import { DecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import type { Engine } from "../engine.ts";
import { rawRoute } from "../route.ts";
import type { NamedSchema } from "../schema-reader.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";
import { topicOption } from "../../topic-option.ts";

/** Messages of a topic whose format the user has hinted because the bytes do not show it. Null if no hint decides the format. */
export function hinted(side: SideTools): Candidate | null {
  const { engine, schemas, scope } = side;
  const { encoding, schemaId, schema, message } = scope.hinted;
  const id = schema?.id ?? schemaId;
  if (id === null) {
    return encoding === null ? null : withoutSchema(side, encoding);
  }
  const named: NamedSchema = {
    framing: engine.noFraming,
    id,
    schema: schema ?? undefined,
    encoding: encoding ?? undefined,
    message: message ?? undefined,
  };
  return { read: (whole) => schemas.read(named, whole, whole.failed) };
}

function withoutSchema(side: SideTools, name: EncodingName): Candidate {
  const { engine, text, result } = side;
  if (engine.formats.textEncodings.some((encoding) => encoding.name === name)) {
    return {
      read: ({ bytes, start, end }) => {
        text.read(bytes, start, end);
        return result;
      },
    };
  }
  const encoding = plainEncoding(engine, name);
  const parse = ({ bytes, start, end }: SideMessage): unknown => encoding.parse(bytes, start, end, engine.limits);
  if (encoding.type === undefined) {
    return {
      read: (message) => {
        text.readParsed(name, parse(message));
        return result;
      },
    };
  }
  // The value is not a row. Its type becomes what the value options say.
  const route = rawRoute(engine, name);
  const reader = encoding.type === null ? null : new JsonReader(name, encoding.type, engine.compileOptions(readEverything));
  return { read: (message) => result.one(reader === null ? parse(message) : reader.convert(parse(message)), route) };
}

function plainEncoding({ formats }: Engine, name: EncodingName): PlainEncoding {
  const all = [formats.raw.text, formats.raw.bytes, ...formats.plainEncodings];
  const found = all.find((encoding) => encoding.name === name);
  if (found === undefined) {
    const known = [...formats.textEncodings, ...all].map((encoding) => encoding.name).join(", ");
    throw new DecodeError(
      "unsupported-format",
      `expected an encoding that needs no schema (${known}) as ${topicOption("value.encoding")} or key.encoding, found ${name}: add a schema or schemaId to the same hint`,
    );
  }
  return found;
}
