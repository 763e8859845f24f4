import { DecodeError } from "../../errors.ts";
import type { SchemaId, SchemaReference, SchemaSource } from "../../schema-source.ts";

/**
 * Avro's Parsing Canonical Form and its CRC-64, by which a single-object message names its schema.
 * https://avro.apache.org/docs/1.12.0/specification/#parsing-canonical-form-for-schemas
 */

/** A schema source for single-object messages: the user's own schemas, found by their fingerprints. */
export function schemasByFingerprint(schemas: readonly string[]): SchemaSource {
  const known = new Map(schemas.map((schema) => [fingerprintId(schema), schema]));
  const peek: SchemaSource["peek"] = (id) => {
    const schema = known.get(id);
    return schema === undefined ? undefined : { id, schemaType: "AVRO", schema };
  };
  const load: SchemaSource["load"] = (id) => {
    const found = peek(id);
    return found === undefined
      ? Promise.reject(
          Object.assign(
            new Error(`expected a schema with the id ${id}, found none among the ${known.size} schemas; add the writer's schema`),
            { code: "not-found" },
          ),
        )
      : Promise.resolve(found);
  };
  return { peek, load };
}

/** The id under which a single-object message looks this schema up: `fingerprint:` and 16 hex digits. */
export function fingerprintId(schema: string, references: readonly SchemaReference[] = []): SchemaId {
  const crc = crc64(Buffer.from(canonicalForm(schema, references)));
  return `fingerprint:${crc.toString(16).padStart(16, "0")}`;
}

const emptyCrc = 0xc15d_213a_a4d7_a795n;

const crcTable: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) {
    crc = (crc >> 1n) ^ ((crc & 1n) === 0n ? 0n : emptyCrc);
  }
  return crc;
});

/** CRC-64-AVRO, the Rabin fingerprint of the specification. */
function crc64(bytes: Uint8Array): bigint {
  let crc = emptyCrc;
  for (const byte of bytes) {
    crc = (crc >> 8n) ^ (crcTable[Number(crc & 0xffn) ^ byte] ?? 0n);
  }
  return crc;
}

/** The schema in Parsing Canonical Form: without everything that does not change how bytes are read, in one spelling. */
export function canonicalForm(schema: string, references: readonly SchemaReference[] = []): string {
  const scope: Scope = { namespace: "", nesting: 0, defined: new Set(), referenced: new Map() };
  for (const reference of references) {
    scope.referenced.set(reference.name, parse(reference.schema));
  }
  return formOf(parse(schema), scope);
}

interface Scope {
  readonly namespace: string;
  readonly nesting: number;
  /** Full names that the form defines already. */
  readonly defined: Set<string>;
  /** Types of other schema texts. Each is written out at the place that names it first. */
  readonly referenced: Map<string, unknown>;
}

type Node = Readonly<Record<string, unknown>>;

const primitives: ReadonlySet<string> = new Set(["null", "boolean", "int", "long", "float", "double", "string", "bytes"]);
const maxNesting = 128;

function parse(schema: string): unknown {
  try {
    return JSON.parse(schema);
  } catch {
    if (primitives.has(schema.trim())) {
      return schema.trim(); // Java writes a bare name without quotes
    }
    throw invalid("the text is not JSON");
  }
}

function formOf(node: unknown, scope: Scope): string {
  if (scope.nesting > maxNesting) {
    throw invalid(`types are nested deeper than ${maxNesting}`);
  }
  if (typeof node === "string") {
    return nameForm(node, scope);
  }
  if (Array.isArray(node)) {
    return `[${node.map((branch) => formOf(branch, deeper(scope))).join(",")}]`;
  }
  if (typeof node !== "object" || node === null) {
    throw invalid(`expected a type, found ${node === null ? "null" : typeof node}`);
  }
  return objectForm(node as Node, scope);
}

function nameForm(name: string, scope: Scope): string {
  if (primitives.has(name)) {
    return JSON.stringify(name);
  }
  const qualified = name.includes(".") || scope.namespace === "" ? name : `${scope.namespace}.${name}`;
  const fullName = scope.defined.has(qualified) || scope.referenced.has(qualified) ? qualified : name;
  const elsewhere = scope.referenced.get(fullName);
  if (scope.defined.has(fullName) || elsewhere === undefined) {
    return JSON.stringify(fullName);
  }
  return formOf(elsewhere, { ...deeper(scope), namespace: "" });
}

function objectForm(node: Node, scope: Scope): string {
  const { type } = node;
  switch (type) {
    case "record":
    case "error":
      return recordForm(node, scope);
    case "enum":
      return `{"name":${define(node, scope).name},"type":"enum","symbols":[${listOf(node, "symbols").map(text).join(",")}]}`;
    case "fixed":
      return `{"name":${define(node, scope).name},"type":"fixed","size":${Number(node["size"])}}`;
    case "array":
      return `{"type":"array","items":${formOf(node["items"], deeper(scope))}}`;
    case "map":
      return `{"type":"map","values":${formOf(node["values"], deeper(scope))}}`;
    default:
      return formOf(type, deeper(scope));
  }
}

function recordForm(node: Node, scope: Scope): string {
  const { name, inside } = define(node, scope);
  const fields = listOf(node, "fields").map((field) => {
    const { name: fieldName, type } = field as Node;
    return `{"name":${text(fieldName)},"type":${formOf(type, inside)}}`;
  });
  return `{"name":${name},"type":"record","fields":[${fields.join(",")}]}`;
}

function define(node: Node, scope: Scope): { readonly name: string; readonly inside: Scope } {
  const own = node["name"];
  if (typeof own !== "string") {
    throw invalid("a record, enum or fixed has no name");
  }
  const declared = typeof node["namespace"] === "string" ? node["namespace"] : scope.namespace;
  const fullName = own.includes(".") || declared === "" ? own : `${declared}.${own}`;
  scope.defined.add(fullName);
  const dot = fullName.lastIndexOf(".");
  return { name: JSON.stringify(fullName), inside: { ...deeper(scope), namespace: dot < 0 ? "" : fullName.slice(0, dot) } };
}

function listOf(node: Node, property: string): readonly unknown[] {
  const list = node[property];
  if (!Array.isArray(list)) {
    throw invalid(`a type has no list of ${property}`);
  }
  return list;
}

/** A name or a symbol. It is not converted with `String`, because an object from a schema can make that throw: `{"toString":1}`. */
function text(value: unknown): string {
  if (typeof value !== "string") {
    throw invalid("a name or a symbol is not text");
  }
  return JSON.stringify(value);
}

function deeper(scope: Scope): Scope {
  return { ...scope, nesting: scope.nesting + 1 };
}

function invalid(detail: string): DecodeError {
  return new DecodeError("schema-invalid", `cannot take the fingerprint of the Avro schema: ${detail}`);
}
