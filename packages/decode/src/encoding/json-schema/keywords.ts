import type { Semantic } from "../../values/conversion.ts";
import { isJsonObject } from "../json/parse.ts";
import type { Type } from "../type.ts";
import { own } from "./documents.ts";
import { quoted, schemaInvalid } from "./schema-invalid.ts";

/*
 * What single keywords mean for a schema together with the schemas that a value must also match (`nodes`: those it refers to, its `allOf`).
 */

type Node = Readonly<Record<string, unknown>>;

const kindNames: readonly string[] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/** The kinds that `type` allows; null if there is none. */
export function declaredKinds(nodes: readonly Node[]): readonly string[] | null {
  let kinds: readonly string[] | null = null;
  for (const node of nodes) {
    const declared = kindsOf(node);
    kinds = kinds === null || declared === null ? (kinds ?? declared) : both(kinds, declared);
  }
  return kinds?.includes("number") === true ? kinds.filter((kind) => kind !== "integer") : kinds;
}

/** The kind whose content the keywords of schemas without a `type` describe, if there is one. Values of all other kinds are allowed, too. */
export function describedKinds(nodes: readonly Node[]): readonly string[] | null {
  const has = (...keywords: readonly string[]): boolean => nodes.some((node) => keywords.some((keyword) => Object.hasOwn(node, keyword)));
  if (has("properties", "patternProperties", "additionalProperties")) {
    return ["object"];
  }
  return has("items", "prefixItems") ? ["array"] : null;
}

function kindsOf(node: Node): readonly string[] | null {
  const declared = own(node, "type");
  if (declared === undefined) {
    return null;
  }
  const kinds: readonly unknown[] = Array.isArray(declared) ? declared : [declared];
  for (const kind of kinds) {
    if (typeof kind !== "string" || !kindNames.includes(kind)) {
      throw schemaInvalid(`${typeof kind === "string" ? quoted(kind) : "a value that is no name"} is used as a type`);
    }
  }
  return kinds as readonly string[]; // the loop above threw for all that are no names of kinds
}

/** The kinds that both schemas allow. An integer is a number. */
function both(one: readonly string[], other: readonly string[]): readonly string[] {
  const allows = (kinds: readonly string[], kind: string): boolean =>
    kinds.includes(kind) || (kind === "integer" && kinds.includes("number"));
  return kindNames.filter((kind) => allows(one, kind) && allows(other, kind));
}

/** The type of `enum` and `const` if they allow only texts (or null); null if they do not. `hasConst`: whether `const` is a keyword. */
export function enumType(nodes: readonly Node[], hasConst: boolean): Type | null {
  for (const node of nodes) {
    const listed = own(node, "enum");
    const values: unknown = hasConst && Object.hasOwn(node, "const") ? [node["const"]] : listed;
    if (!Array.isArray(values)) {
      continue;
    }
    const symbols = values.filter((value) => typeof value === "string");
    const hasNull = values.includes(null);
    if (symbols.length > 0 && symbols.length === values.length - (hasNull ? 1 : 0)) {
      const type: Type = { kind: "enum", symbols, ...semanticOf(nodes) };
      return hasNull ? { kind: "union", branches: [{ kind: "null" }, type] } : type;
    }
  }
  return null;
}

/** The type of a kind without inner types. */
export function scalarType(kind: string, nodes: readonly Node[]): Type {
  const connectType = firstText(nodes, "connect.type");
  const meaning = semanticOf(nodes);
  switch (kind) {
    case "null":
      return { kind: "null" };
    case "boolean":
      return { kind: "boolean", ...meaning };
    case "integer":
      return smallIntegers.has(connectType) ? { kind: "int", ...bitsOf(connectType), ...meaning } : { kind: "long", ...meaning };
    case "number":
      return numberType(connectType, meaning);
    default:
      return connectType === "bytes" ? { kind: "bytes", ...meaning } : { kind: "string", ...(formatMeaning(nodes, meaning) ?? meaning) };
  }
}

const smallIntegers: ReadonlySet<string | null> = new Set(["int8", "int16", "int32"]);

function bitsOf(connectType: string | null): { readonly bits?: 8 | 16 } {
  return connectType === "int8" ? { bits: 8 } : connectType === "int16" ? { bits: 16 } : {};
}

const decimalName = "org.apache.kafka.connect.data.Decimal";

function numberType(connectType: string | null, meaning: Meaning): Type {
  if (connectType === "bytes" || meaning.semantic?.name === decimalName) {
    return { kind: "bytes", ...meaning }; // a decimal that Connect writes as a number
  }
  switch (connectType) {
    case "float32":
      return { kind: "float", ...meaning };
    case "float64":
      return { kind: "double", ...meaning };
    default:
      // Numbers of JSON Schema have any size: integers stay exact, and `values.numbers` chooses the form of fractions.
      return { kind: "union", branches: [{ kind: "long" }, { kind: "double" }] };
  }
}

export interface Meaning {
  readonly semantic?: Semantic;
}

/** The semantic type, if Connect named the schema. */
export function semanticOf(nodes: readonly Node[]): Meaning {
  const named = nodes.find((node) => typeof own(node, "title") === "string");
  if (named === undefined) {
    return {};
  }
  const parameters: Record<string, string> = Object.create(null);
  const declared = own(named, "connect.parameters");
  for (const [name, value] of Object.entries(isJsonObject(declared) ? declared : {})) {
    if (typeof value === "string" || typeof value === "number") {
      parameters[name] = String(value);
    }
  }
  return { semantic: { name: named["title"] as string, parameters } }; // `find` checked that it is a text
}

/** Formats whose texts have the semantics of a column type. */
const semanticOfFormat: ReadonlyMap<string | null, string> = new Map([
  ["date", "io.debezium.time.IsoDate"],
  ["date-time", "io.debezium.time.ZonedTimestamp"],
]);

/** The semantics of `format`, unless Connect named the schema. */
function formatMeaning(nodes: readonly Node[], { semantic }: Meaning): Meaning | null {
  const name = semanticOfFormat.get(firstText(nodes, "format"));
  const isConnects = semantic !== undefined && /^(?:io\.debezium|org\.apache\.kafka\.connect)\./.test(semantic.name);
  return name === undefined || isConnects ? null : { semantic: { name, parameters: {} } };
}

function firstText(nodes: readonly Node[], keyword: string): string | null {
  const node = nodes.find((candidate) => typeof own(candidate, keyword) === "string");
  return node === undefined ? null : (node[keyword] as string); // `find` checked that it is a text
}

/** One type for all of them. Null comes at most once, and first. If one of them allows any value, the union does too. */
export function unionOf(types: readonly Type[]): Type {
  const branches = new Set<Type>();
  let hasNull = false;
  for (const type of types.flatMap((one) => (one.kind === "union" ? one.branches : [one]))) {
    if (type.kind === "any") {
      return { kind: "any" };
    }
    if (type.kind === "null") {
      hasNull = true;
    } else {
      branches.add(type);
    }
  }
  const rest = [...branches];
  const [only, ...more] = rest;
  if (only === undefined) {
    return { kind: hasNull ? "null" : "any" };
  }
  return more.length === 0 && !hasNull ? only : { kind: "union", branches: hasNull ? [{ kind: "null" }, ...rest] : rest };
}
