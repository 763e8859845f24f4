import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { SchemaReference } from "../../schema-source.ts";
import type { Semantic } from "../../values/conversion.ts";
import { tidbSemantic } from "../../values/tidb-column.ts";
import { defaultValueOf } from "../default-value.ts";
import { unescapedName } from "../escaped-name.ts";
import { parseJson } from "../json/parse.ts";
import { type Field, fieldOf, type PrimitiveKind, type RecordType, type Type } from "../type.ts";
import { detailsOf, setDetails, setFieldDetails } from "./details.ts";
import { isValidLogicalType } from "./logical-type.ts";

/** How deep types may be nested in a schema text. */
const maxNesting = 64;
/** Limits the fields, union branches and enum symbols of all texts together. A field counts as five, so there are 20,000 at most. */
const maxParts = 100_000;
const partsOfField = 5;

/**
 * The type that an Avro schema describes. `references` are the schemas that it refers to by name, each one after its own references. Names
 * in a schema are only data: they are looked up in maps, never as properties. If `unescapesNames` is true, `_uXXXX` in the names of fields
 * is replaced by its character.
 */
export function parseAvroSchema(
  text: string,
  references: readonly SchemaReference[],
  limits: Pick<ResolvedLimits, "maxSchemaChars">,
  unescapesNames = false,
): Type {
  const names: Names = {
    types: new Map(),
    heights: new Map(),
    mapEntries: new Set(),
    parts: 0,
    chars: 0,
    maxChars: limits.maxSchemaChars,
    unescapes: unescapesNames,
  };
  for (const reference of references) {
    const type = parseText(reference.schema, names);
    if (!names.types.has(reference.name)) {
      names.types.set(reference.name, type);
    }
  }
  return parseText(text, names);
}

/** The names that the texts have declared so far. */
interface Names {
  readonly types: Map<string, Type>;
  /** How deep each type is nested, through the types that it names. */
  readonly heights: Map<unknown, number>;
  /** Records that are pairs of a map: Connect writes maps whose keys are not strings as arrays of pairs. */
  readonly mapEntries: Set<unknown>;
  parts: number;
  chars: number;
  readonly maxChars: number;
  readonly unescapes: boolean;
}

/** The surroundings of a node in the text. */
interface Place {
  readonly names: Names;
  readonly namespace: string;
  readonly nesting: number;
}

type Node = Readonly<Record<string, unknown>>;

const primitives: ReadonlySet<string> = new Set<PrimitiveKind>(["null", "boolean", "int", "long", "float", "double", "string", "bytes"]);

function parseText(text: string, names: Names): Type {
  names.chars += text.length;
  if (names.chars > names.maxChars) {
    throw invalid(`the schema and its references have more than ${names.maxChars} characters (limits.maxSchemaChars)`);
  }
  return parseType(parseSchemaText(text), { names, namespace: "", nesting: 0 });
}

/** Deeper than the JSON of any schema that {@link maxNesting} allows. */
const maxJsonDepth = 2_000;

/** Integers keep their digits: the default of a long may be beyond 2^53. */
function parseSchemaText(text: string): unknown {
  const bytes = Buffer.from(text);
  try {
    return parseJson(bytes, 0, bytes.length, { maxDepth: maxJsonDepth, asDoubles: true });
  } catch {
    // The error does not contain the parser's message, which quotes the text. Java writes a bare name without quotes.
    if (primitives.has(text.trim())) {
      return text.trim();
    }
    throw invalid("the text is not JSON, or is nested too deeply");
  }
}

function parseType(node: unknown, place: Place): Type {
  if (place.nesting > maxNesting) {
    throw tooDeep();
  }
  const type = parseNode(node, place);
  boundHeight(type, place.names);
  return type;
}

function parseNode(node: unknown, place: Place): Type {
  if (typeof node === "string") {
    return primitiveOrNamed(node, place, {});
  }
  if (Array.isArray(node)) {
    return parseUnion(node, place);
  }
  if (!isNode(node)) {
    throw invalid(`expected a type (a name, a list or an object), found ${describe(node)}`);
  }
  return parseObject(node, place);
}

/**
 * Limits the depth of types, because names let a short text nest deep and code that walks types may recurse. The walk stops at a record
 * that contains itself.
 */
function boundHeight(type: Type, { heights }: Names): void {
  if (heights.has(identityOf(type))) {
    return;
  }
  const height = partsOf(type).reduce((max, part) => Math.max(max, 1 + (heights.get(identityOf(part)) ?? 0)), 1);
  if (height > maxNesting) {
    throw tooDeep();
  }
  heights.set(identityOf(type), height);
}

/** Records that differ only in their parameters share their fields. */
function identityOf(type: Type): unknown {
  return type.kind === "record" ? type.fields : type;
}

function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "record":
      return type.fields.map((field) => field.type);
    case "union":
      return type.branches;
    case "array":
      return [type.items];
    case "map":
      return type.keys === null ? [type.values] : [type.keys, type.values];
    default:
      return [];
  }
}

function parseObject(node: Node, place: Place): Type {
  const kind = node["type"];
  if (typeof kind !== "string") {
    return withSemantic(parseType(kind, deeper(place)), node); // as in {"type": {"type": "long"}}
  }
  switch (kind) {
    case "record":
    case "error":
      return parseRecord(node, place);
    case "enum":
      return parseEnum(node, place);
    case "fixed":
      return parseFixed(node, place);
    case "array":
      return parseArray(node, place);
    case "map":
      return withSemantic({ kind: "map", keys: null, values: parseType(node["values"], deeper(place)) }, node);
    default:
      return primitiveOrNamed(kind, place, node);
  }
}

function primitiveOrNamed(name: string, place: Place, node: Node): Type {
  if (primitives.has(name)) {
    return withSemantic({ kind: name as PrimitiveKind }, node); // the set contains it, so it is one
  }
  const known = find(name, place);
  const own = parametersOf(node);
  return own === null ? withoutForeignParameters(known) : withParameters(known, own);
}

function find(name: string, { names, namespace }: Place): Type {
  const known = (name.includes(".") ? undefined : names.types.get(qualified(name, namespace))) ?? names.types.get(name);
  if (known === undefined) {
    throw invalid(`no type is named ${describe(name)} here: neither the schema nor its references define it before it is used`);
  }
  return known;
}

function parseUnion(nodes: readonly unknown[], place: Place): Type {
  countParts(place.names, nodes.length);
  if (nodes.length === 0) {
    throw invalid("a union has no branches");
  }
  const branches = nodes.map((node) => parseType(node, deeper(place)));
  if (branches.some((branch) => branch.kind === "union")) {
    throw invalid("a union is directly inside of a union");
  }
  return { kind: "union", branches };
}

function parseRecord(node: Node, place: Place): Type {
  const { fullName, namespace } = nameOf(node, place);
  const nodes = node["fields"];
  if (!Array.isArray(nodes)) {
    throw invalid(`record ${describe(fullName)} has no list of fields`);
  }
  countParts(place.names, nodes.length * partsOfField);
  const semantic = semanticOf(node);
  const fields: Field[] = []; // filled below, because a field may name the record
  const connectName = node["connect.name"];
  const name = typeof connectName === "string" ? connectName : fullName;
  const record: RecordType = semantic === null ? { kind: "record", name, fields } : { kind: "record", name, fields, semantic };
  define(fullName, record, node, place.names);
  if (node["connect.internal.type"] === "MapEntry" || mapEntryNames.has(fullName)) {
    place.names.mapEntries.add(fields);
  }
  const inside: Place = { ...deeper(place), namespace };
  const seen = new Set<string>();
  for (const fieldNode of nodes) {
    const field = parseField(fieldNode, inside);
    if (seen.has(field.name)) {
      throw invalid(`record ${describe(fullName)} has two fields named ${describe(field.name)}`);
    }
    seen.add(field.name);
    fields.push(field);
  }
  return record;
}

/** The names that converters give to the pairs of a map: Confluent's and Apicurio's converter, and Glue's. */
const mapEntryNames: ReadonlySet<string> = new Set([
  "io.confluent.connect.avro.MapEntry",
  "com.amazonaws.services.schemaregistry.kafkaconnect.avrodata.MapEntry",
]);

function parseField(node: unknown, place: Place): Field {
  const written = isNode(node) ? node["name"] : undefined;
  if (!isNode(node) || typeof written !== "string") {
    throw invalid("a field of a record is not an object with a name");
  }
  const name = place.names.unescapes ? unescapedName(written) : written;
  const type = parseType(node["type"], place);
  const parameters = parametersOf(node); // parameters of the field: the converter writes them there if the type was defined elsewhere
  const field = fieldOf(
    name,
    parameters === null ? type : withParameters(type, parameters),
    parameters ?? declaredParameters(node["type"]),
    defaultValueOf(type, connectDefault(node["type"]) ?? node["default"], "latin1"),
  );
  setFieldDetails(field, { aliases: aliasesOf(node), defaultValue: Object.hasOwn(node, "default") ? { json: node["default"] } : null });
  return field;
}

/** Connect's default, which is beside the type: Avro's own default of an optional field is null, because null is the first branch. */
function connectDefault(node: unknown): unknown {
  const branches = Array.isArray(node) ? node : [node];
  return branches.filter(isNode).find((branch) => Object.hasOwn(branch, "connect.default"))?.["connect.default"];
}

function parseEnum(node: Node, place: Place): Type {
  const { fullName } = nameOf(node, place);
  const symbols = node["symbols"];
  if (!Array.isArray(symbols) || !symbols.every((symbol) => typeof symbol === "string")) {
    throw invalid(`enum ${describe(fullName)} has no list of symbols`);
  }
  countParts(place.names, symbols.length);
  const type = withSemantic({ kind: "enum", symbols: [...symbols] }, node);
  define(fullName, type, node, place.names);
  return type;
}

function parseFixed(node: Node, place: Place): Type {
  const { fullName } = nameOf(node, place);
  const size = node["size"];
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    throw invalid(`fixed ${describe(fullName)} has no size`);
  }
  const type = withSemantic({ kind: "fixed", size }, node);
  define(fullName, type, node, place.names);
  return type;
}

function parseArray(node: Node, place: Place): Type {
  const items = parseType(node["items"], deeper(place));
  const [key, value, ...more] = items.kind === "record" && place.names.mapEntries.has(items.fields) ? items.fields : [];
  if (key?.name !== "key" || value?.name !== "value" || more.length > 0) {
    return withSemantic({ kind: "array", items }, node);
  }
  // An array of such pairs has the bytes of a map, whose keys may be of any type.
  const plainKeys = key.type.kind === "string" && key.type.semantic === undefined;
  return withSemantic({ kind: "map", keys: plainKeys ? null : key.type, values: value.type }, node);
}

function nameOf(node: Node, place: Place): { fullName: string; namespace: string } {
  const name = node["name"];
  if (typeof name !== "string" || name === "") {
    throw invalid(`a type of kind ${describe(node["type"])} has no name`);
  }
  const dot = name.lastIndexOf(".");
  if (dot >= 0) {
    return { fullName: name, namespace: name.slice(0, dot) };
  }
  const own = node["namespace"];
  const namespace = typeof own === "string" ? own : place.namespace;
  return { fullName: qualified(name, namespace), namespace };
}

function qualified(name: string, namespace: string): string {
  return namespace === "" ? name : `${namespace}.${name}`;
}

function define(fullName: string, type: Type, node: Node, names: Names): void {
  if (primitives.has(fullName)) {
    throw invalid(`${describe(fullName)} is a primitive type and cannot be defined`);
  }
  if (names.types.has(fullName)) {
    throw invalid(`${describe(fullName)} is defined twice`);
  }
  names.types.set(fullName, type);
  const defaultSymbol = typeof node["default"] === "string" ? node["default"] : null;
  const scope = fullName.slice(0, Math.max(0, fullName.lastIndexOf(".")));
  const aliases = aliasesOf(node).map((alias) => (alias.includes(".") ? alias : qualified(alias, scope)));
  setDetails(type, { fullName, aliases, defaultSymbol });
}

function aliasesOf(node: Node): readonly string[] {
  const aliases = node["aliases"];
  return Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === "string") : [];
}

function deeper(place: Place): Place {
  return { ...place, nesting: place.nesting + 1 };
}

function countParts(names: Names, count: number): void {
  names.parts += count;
  if (names.parts > maxParts) {
    throw invalid(`it has more than ${maxParts / partsOfField} fields, or ${maxParts} branches and symbols`);
  }
}

/** The semantics of a value: in `connect.name`, in plain Avro in `logicalType`, and in TiCDC's Avro in a parameter. */
function semanticOf(node: Node): Semantic | null {
  const name = node["connect.name"];
  if (typeof name === "string") {
    // The scale of a decimal is a property of its own too. The one in the parameters is right, even if Avro's rules would refuse it.
    const scale = name === "org.apache.kafka.connect.data.Decimal" ? scalars(node, ["scale"]) : {};
    return { name, parameters: { ...scale, ...parametersOf(node) } };
  }
  const parameters = parametersOf(node);
  const logicalType = node["logicalType"];
  return typeof logicalType === "string"
    ? { name: `avro.${logicalType}`, parameters: { ...scalars(node, ["scale", "precision"]), ...parameters } }
    : tidbSemantic(parameters?.["tidb_type"], parameters ?? {});
}

function scalars(node: Node, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.filter((name) => typeof node[name] === "number").map((name) => [name, String(node[name])]));
}

/** Connect's parameters are texts. A parameter that is not a scalar is ignored. */
function parametersOf(node: Node): Record<string, string> | null {
  const parameters = node["connect.parameters"];
  return isNode(parameters)
    ? Object.fromEntries(
        Object.entries(parameters)
          .filter(([, value]) => typeof value !== "object")
          .map(([name, value]) => [name, String(value)]),
      )
    : null;
}

/** The parameters of a field's type, or of the branch of an optional type that has some. They count even without a name. */
function declaredParameters(type: unknown): Record<string, string> | null {
  if (Array.isArray(type)) {
    return type.map((branch: unknown) => (isNode(branch) ? parametersOf(branch) : null)).find((declared) => declared !== null) ?? null;
  }
  return isNode(type) ? parametersOf(type) : null;
}

function withSemantic(type: Type, node: Node): Type {
  const semantic = semanticOf(node);
  return semantic === null || type.kind === "union" || !isValidLogicalType(semantic.name, type, declaredBy(node))
    ? type
    : { ...type, semantic };
}

function declaredBy(node: Node): { readonly precision: unknown; readonly scale: unknown } {
  return { precision: node["precision"], scale: node["scale"] };
}

/** The type with other parameters. For a union, the branches that have semantics. */
function withParameters(type: Type, parameters: Record<string, string>): Type {
  if (type.kind === "union") {
    return { kind: "union", branches: type.branches.map((branch) => withParameters(branch, parameters)) };
  }
  if (type.semantic === undefined) {
    return type;
  }
  const own = { ...type, semantic: { name: type.semantic.name, parameters } };
  const details = detailsOf(type);
  if (details !== null) {
    setDetails(own, details); // the details belong to the copy too
  }
  return own;
}

/**
 * A struct that is named a second time. Converters know structs by name alone, so the parameters that the schema declares at the first
 * place do not apply here.
 */
function withoutForeignParameters(type: Type): Type {
  const declared = type.kind === "record" && type.semantic !== undefined && Object.keys(type.semantic.parameters).length > 0;
  return declared ? withParameters(type, {}) : type;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value) : typeof value;
}

function tooDeep(): DecodeError {
  return invalid(`types are nested deeper than ${maxNesting}`);
}

function invalid(detail: string): DecodeError {
  return new DecodeError("schema-invalid", `cannot use the Avro schema: ${detail}; check the schema that the registry has under this id`);
}
