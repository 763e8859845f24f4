import type { DecoderOptions, RegisteredSchema, SchemaSource } from "@cdckit/decode";
import { withEdits } from "./anatomy.ts";
import { byteMutations } from "./byte-mutations.ts";
import { jsonAnatomy } from "./json-anatomy.ts";
import type { Random } from "./random.ts";

/** The options with schemas whose text somebody else changed: names, types, references, depth, and what is no schema at all. */
export function withHostileSchemas(options: DecoderOptions, random: Random): DecoderOptions | null {
  const { schemas } = options;
  if (schemas === undefined) {
    return null;
  }
  const changed = (schema: RegisteredSchema): RegisteredSchema => ({ ...schema, schema: hostile(schema, random) });
  const known = new Map<unknown, RegisteredSchema>();
  const source: SchemaSource = {
    peek: (id) => {
      const found = known.get(id) ?? schemas.peek(id);
      if (found === undefined) {
        return undefined;
      }
      const schema = known.get(id) ?? changed(found);
      known.set(id, schema);
      return schema;
    },
    load: (id) => schemas.load(id),
  };
  return { ...options, schemas: source };
}

function hostile({ schemaType, schema }: RegisteredSchema, random: Random): string {
  const bytes = Buffer.from(schema);
  if (schemaType === "PROTOBUF") {
    return schema.startsWith("syntax") && random.chance(0.7)
      ? otherWord(schema, random)
      : random
          .pick(byteMutations)(bytes, random, bytes)
          .toString(schema.startsWith("syntax") ? "utf8" : "latin1");
  }
  const { parts, edge } = jsonAnatomy(bytes, 0);
  if (parts.length === 0 || random.chance(0.1)) {
    return random.pick(byteMutations)(bytes, random, bytes).toString();
  }
  const part = random.pick(parts);
  const other = random.pick(parts);
  const put = random.chance(0.3)
    ? Buffer.from(random.pick(jsonWords))
    : other.kind === part.kind && random.chance(0.6)
      ? bytes.subarray(other.start, other.end)
      : edge(part, random, bytes);
  return withEdits(bytes, [{ part, put }], true).toString();
}

function otherWord(schema: string, random: Random): string {
  const words = [...schema.matchAll(/[A-Za-z_][A-Za-z_0-9.]*|\d+/g)];
  const { 0: found, index } = random.pick(words);
  const put = random.chance(0.5) ? random.pick(protoWords) : random.pick(words)[0];
  return schema.slice(0, index) + put + schema.slice(index + found.length);
}

const jsonWords: readonly string[] = (
  '"null" "boolean" "int" "long" "float" "double" "bytes" "string" "record" "enum" "array" "map" "fixed" "error" [] {} ["null","null"] ' +
  '["null","int"] "__proto__" "constructor" "#" "#/properties" "#/$defs/a" "http://127.0.0.1/x" {"$ref":"#"} "decimal" "date" "timestamp-millis" ' +
  '"io.debezium.time.MicroTimestamp" "org.apache.kafka.connect.data.Decimal" -1 1e9 999999999999 "); process.exit(1); (" "a`b${1}" "\\u2028"'
).split(/ (?=["[{\d-])/);

const protoWords: readonly string[] = (
  "__proto__ constructor toString hasOwnProperty message enum oneof map group repeated optional required extend extensions reserved import public " +
  "package option syntax string bytes int32 int64 double bool fixed64 0 1 536870911 536870912 -1 2147483648 19000 .a.b google.protobuf.Any " +
  'google.protobuf.Struct google.protobuf.Timestamp confluent.type.Decimal ); "); } { ; // /* "'
).split(" ");
