import type { ConnectSchema } from "../connect-schema.ts";

/** An Avro schema: a name, a union, or an object. */
export type AvroSchema = string | readonly AvroSchema[] | { readonly [property: string]: unknown };

const primitives: Readonly<Record<string, string>> = { int16: "int", int32: "int", int64: "long", string: "string", bytes: "bytes" };

/** The Avro schema that Confluent's converter makes of a schema of Connect. Covers the types that the published table has. */
export function avroSchemaOf(schema: ConnectSchema): AvroSchema {
  return new AvroNames().convert(schema, "");
}

/** A record is written once, and named after that. */
class AvroNames {
  readonly #known = new Set<string>();

  /** @param outer the namespace of the record around it: one that is the same is not written again */
  convert(schema: ConnectSchema, outer: string): AvroSchema {
    return schema.type === "struct" ? this.#record(schema, outer) : primitive(schema);
  }

  #record({ name = "", version, fields = [] }: ConnectSchema, outer: string): AvroSchema {
    const fullName = name.replace(/[^A-Za-z0-9_.]/g, "_"); // as Debezium's schema.name.adjustment.mode=avro
    const dot = fullName.lastIndexOf(".");
    const simpleName = fullName.slice(dot + 1);
    const namespace = fullName.slice(0, dot);
    if (this.#known.has(fullName)) {
      return namespace === outer ? simpleName : fullName;
    }
    this.#known.add(fullName);
    return {
      type: "record",
      name: simpleName,
      ...(namespace !== outer && { namespace }),
      fields: fields.map((field) => this.#field(field, namespace)),
      ...(version !== undefined && { "connect.version": version }),
      "connect.name": fullName,
    };
  }

  #field(schema: ConnectSchema, namespace: string): AvroSchema {
    const type = this.convert(schema, namespace);
    const fallback = schema.default === undefined ? undefined : avroDefault(schema);
    if (!schema.optional) {
      return { name: schema.field, type, ...(fallback !== undefined && { default: fallback }) };
    }
    return fallback === undefined
      ? { name: schema.field, type: ["null", type], default: null }
      : { name: schema.field, type: [type, "null"], default: fallback };
  }
}

function primitive(schema: ConnectSchema): AvroSchema {
  const { type, name, version, parameters } = schema;
  const avroType = primitives[type];
  if (avroType === undefined) {
    throw new TypeError(`no Avro type is known for Connect's ${type}`);
  }
  const properties = {
    ...(type === "bytes" && { scale: Number(parameters?.["scale"]), precision: Number(parameters?.["connect.decimal.precision"]) }),
    ...(version !== undefined && { "connect.version": version }),
    ...(parameters !== undefined && { "connect.parameters": parameters }),
    ...(schema.default !== undefined && { "connect.default": avroDefault(schema) }),
    ...(type === "int16" && { "connect.type": "int16" }),
    ...(name !== undefined && { "connect.name": name }),
    ...(type === "bytes" && { logicalType: "decimal" }),
  };
  return Object.keys(properties).length === 0 ? avroType : { type: avroType, ...properties };
}

/** Bytes are text in Avro's JSON: a character a byte. */
function avroDefault({ type, default: fallback }: ConnectSchema): string | number | undefined {
  return type === "bytes" ? Buffer.from(String(fallback), "base64").toString("latin1") : fallback;
}
