import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { RegisteredSchema, SchemaId, SchemaReference, SchemaSource } from "@cdckit/decode";
import { RegistryError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { quoted } from "./quoted.ts";
import { isObject, readSchemaType } from "./schema-answer.ts";
import { isNumericId } from "./schema-id.ts";
import { bindMethods } from "./bind-methods.ts";

// Large enough for every bundle that somebody writes on purpose. It keeps a few bytes of gzip from filling the memory.
const maxBundleBytes = 268_435_456;
const lineFeed = 0x0a;

/**
 * The schemas of a file, for use without a network: lines of `{id, schemaType, schema, references?: [{name, schema}]}`, gzip allowed. An
 * id is a number, or a text as in `SchemaId`, such as `glue:<uuid>`. Reads the whole file at once, so that no record waits for a schema.
 * Throws a {@link RegistryError} that names the wrong line.
 */
export function fromBundle(file: string | URL): SchemaSource {
  const name = String(file);
  let bytes: Uint8Array;
  try {
    bytes = unzipped(readFileSync(file));
  } catch (cause) {
    const code = (cause as { code?: unknown }).code;
    const why = code === "ENOENT" ? "there is no such file" : typeof code === "string" ? code : "unknown reason";
    throw new RegistryError("refused", `schema bundle ${quoted(name)} cannot be read: ${why}`, { cause });
  }
  return new BundleSource(name, readLines(name, bytes));
}

/** The same for a text that is already in memory. Messages call it `name`. */
export function fromBundleText(text: string, name: string = "(text)"): SchemaSource {
  return new BundleSource(name, readLines(name, Buffer.from(text, "utf8")));
}

class BundleSource implements SchemaSource {
  readonly #name: string;
  readonly #schemas: ReadonlyMap<SchemaId, RegisteredSchema>;

  constructor(name: string, schemas: ReadonlyMap<SchemaId, RegisteredSchema>) {
    this.#name = name;
    this.#schemas = schemas;
    bindMethods(this);
  }

  /** Numbers of a file are one space: if no line has `globalId:7` or `contentId:7` itself, both mean the line with the id 7. */
  peek(id: SchemaId): RegisteredSchema | undefined {
    return this.#schemas.get(id) ?? this.#byNumber(id);
  }

  async load(id: SchemaId): Promise<RegisteredSchema> {
    const schema = this.peek(id);
    if (schema === undefined) {
      const held = `schema bundle ${quoted(this.#name)} has no schema id ${quotedId(id)} among its ${this.#schemas.size}`;
      throw new RegistryError("not-found", `${held}: add a line for it from the registry that the bundle was written from`, { id });
    }
    return schema;
  }

  #byNumber(id: SchemaId): RegisteredSchema | undefined {
    const number = typeof id === "string" ? /^(?:globalId|contentId):(\d{1,15})$/.exec(id)?.[1] : undefined;
    const schema = number === undefined ? undefined : this.#schemas.get(Number(number));
    return schema === undefined ? undefined : { ...schema, id };
  }
}

function unzipped(bytes: Uint8Array): Uint8Array {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isGzip ? gunzipSync(bytes, { maxOutputLength: maxBundleBytes }) : bytes;
}

function readLines(name: string, bytes: Uint8Array): ReadonlyMap<SchemaId, RegisteredSchema> {
  const schemas = new Map<SchemaId, RegisteredSchema>();
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, start);
    const end = found === -1 ? bytes.length : found;
    line++;
    readLine(bytes.subarray(start, end), schemas, `schema bundle ${quoted(name)}, line ${line}`);
    start = end + 1;
  }
  return schemas;
}

function readLine(bytes: Uint8Array, schemas: Map<SchemaId, RegisteredSchema>, place: string): void {
  if (bytes.every(isBlank)) {
    return;
  }
  const schema = readSchema(bytes);
  if (typeof schema === "string") {
    throw new RegistryError("refused", `${place} ${schema}: expected {"id", "schemaType", "schema", "references"?}`);
  }
  const earlier = schemas.get(schema.id);
  if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(schema)) {
    const detail = `${place} gives schema id ${quotedId(schema.id)} another schema than an earlier line does: keep the right one`;
    throw new RegistryError("refused", detail, { id: schema.id });
  }
  schemas.set(schema.id, schema);
}

/** One line as a schema, or what is wrong with it. */
function readSchema(bytes: Uint8Array): RegisteredSchema | string {
  let line: unknown;
  try {
    line = parseJson(bytes);
  } catch {
    return "is not JSON in UTF-8";
  }
  if (!isObject(line)) {
    return "is not a JSON object";
  }
  const { id, schema } = line;
  const schemaType = readSchemaType(line["schemaType"]);
  const references = readReferences(line["references"]);
  if (!isNumericId(id) && typeof id !== "string") {
    return "has no id, or one that is neither a non-negative integer nor a text";
  }
  if (typeof schema !== "string") {
    return 'has no "schema" text';
  }
  if (schemaType === undefined) {
    return "has a schemaType other than AVRO, JSON, PROTOBUF and KCONNECT";
  }
  if (references === undefined) {
    return "has references that are not a list of name and schema text";
  }
  const hasRuleSet = line["hasRuleSet"] === true ? { hasRuleSet: true } : {};
  return Object.freeze({ id, schemaType, schema, ...(references.length === 0 ? {} : { references }), ...hasRuleSet });
}

function readReferences(value: unknown): readonly SchemaReference[] | undefined {
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value) || !value.every(isReference)) {
    return undefined;
  }
  return Object.freeze(value.map(({ name, schema }) => Object.freeze({ name, schema })));
}

function isReference(value: unknown): value is SchemaReference {
  return isObject(value) && typeof value["name"] === "string" && typeof value["schema"] === "string";
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function quotedId(id: SchemaId): string {
  return typeof id === "number" ? String(id) : quoted(id);
}
