import { DecodeError, type JsonSchemaDocuments, type JsonSchemaPlace } from "@cdckit/decode";
import { isJsonObject, own } from "./json-object.ts";
import { schemaInvalid } from "./schema-invalid.ts";

/** Code is generated for each part. The time for that grows faster than the number of parts: this many take a third of a second. */
const maxParts = 1_500;
const maxNesting = 256;

/**
 * The keyword that counts the cost of checking a part, in about nanoseconds. Other vocabularies' keywords are left out of a bundle, so no
 * schema text can set it.
 */
export const costKeyword = "cdckit-cost";

/** The same for each name of an object. It stands at parts that look at all of them. */
export const namesKeyword = "cdckit-names-cost";

/** The cost of a reference. All costs here were measured in newly generated code that the runtime has not optimised yet. */
const nsOfReference = 900;
/** The cost of a part that is checked for each item or each property. */
const nsOfRepeated = 300;
/** The cost of looking a value up in an `enum`. */
const nsOfLookup = 400;
/** The cost of checking first whether a value is null. */
const nsOfNullable = 800;
/** The cost of an alternative, which makes an error object if it fails: one for a single value, and one that goes into the value. */
const nsOfAlternative = 500;
const nsOfWideAlternative = 1_000;
/** The cost of a part that is checked with its whole. */
const nsOfPart = 100;
/** The cost of a name of the schema that is looked up in the value, and of a name of the value that is looked at. */
const nsOfDeclaredName = 40;
const nsOfName = 60;

/** A schema with all that it refers to, reduced to the keywords that check values. */
export interface Bundle {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The path of each part in its own text. */
  readonly paths: ReadonlyMap<unknown, string>;
  /** Whether a rule is about what no other rule has looked at. */
  readonly hasUnevaluated: boolean;
}

const plainKeywords = [
  ...["type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"],
  ...["pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required"],
  ...["dependentRequired"],
];
const schemaKeywords = [
  ...["items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains", "not"],
  ...["if", "then", "else", "propertyNames", "allOf", "anyOf", "oneOf"],
];
const mapKeywords = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const referenceKeywords = ["$ref", "$dynamicRef", "$recursiveRef"];

/** The first draft that has a keyword, and the last one, of those that not every draft has. In others the keyword checks nothing. */
const draftsOf = new Map<string, { readonly since?: number; readonly until?: number }>([
  ["const", { since: 6 }],
  ["contains", { since: 6 }],
  ["propertyNames", { since: 6 }],
  ["if", { since: 7 }],
  ["then", { since: 7 }],
  ["else", { since: 7 }],
  ["dependencies", { until: 7 }],
  ["maxContains", { since: 2019 }],
  ["minContains", { since: 2019 }],
  ["dependentRequired", { since: 2019 }],
  ["dependentSchemas", { since: 2019 }],
  ["unevaluatedItems", { since: 2019 }],
  ["unevaluatedProperties", { since: 2019 }],
  ["$recursiveRef", { since: 2019, until: 2019 }],
  ["additionalItems", { until: 2019 }],
  ["prefixItems", { since: 2020 }],
  ["$dynamicRef", { since: 2020 }],
]);

/** The number of a draft, by its address; null if the schema does not say one that is known. Then it may have the keywords of all drafts. */
function draftOf(address: unknown): number | null {
  const found = typeof address === "string" ? /draft-0?([3-7])|draft\/(2019|2020)-/.exec(address) : null;
  return found === null ? null : Number(found[1] ?? found[2]);
}

/**
 * Rewrites a schema of any draft as draft 2019-09, with references only to parts of itself. Everything that checks no values (names,
 * addresses, defaults, other vocabularies' keywords) is left out: the sender wrote it, and here it cannot have any effect.
 */
export function bundleSchema(documents: JsonSchemaDocuments): Bundle {
  const bundler = new Bundler(documents);
  return bundler.bundle();
}

class Bundler {
  readonly #documents: JsonSchemaDocuments;
  readonly #numbers = new Map<unknown, number>();
  readonly #places: JsonSchemaPlace[] = [];
  readonly #names: string[] = [];
  readonly #paths = new Map<unknown, string>();
  readonly #draft: number | null;
  #parts = 0;
  #hasUnevaluated = false;

  constructor(documents: JsonSchemaDocuments) {
    this.#documents = documents;
    const { node } = documents.root;
    this.#draft = draftOf(isJsonObject(node) ? own(node, "$schema") : undefined);
  }

  bundle(): Bundle {
    const definitions: Record<string, unknown> = {};
    const root = this.#reference(this.#documents.root, "#");
    for (let i = 0; i < this.#places.length; i++) {
      definitions[`r${i}`] = {
        [costKeyword]: nsOfReference,
        allOf: [this.#convert(this.#places[i] as JsonSchemaPlace, this.#names[i] as string, maxNesting)],
      };
    }
    return { schema: { ...root, $defs: definitions }, paths: this.#paths, hasUnevaluated: this.#hasUnevaluated };
  }

  #reference(place: JsonSchemaPlace, name: string): Record<string, unknown> {
    let number = this.#numbers.get(place.node);
    if (number === undefined) {
      number = this.#places.length;
      this.#places.push(place);
      this.#names.push(name.includes("#") ? name : `${name}#`);
      this.#numbers.set(place.node, number);
    }
    return { $ref: `#/$defs/r${number}` };
  }

  #convert(place: JsonSchemaPlace, path: string, nesting: number): unknown {
    const { node } = place;
    if (typeof node === "boolean") {
      return node;
    }
    if (!isJsonObject(node)) {
      throw schemaInvalid("a value that is neither an object nor true or false is used as a schema");
    }
    if (++this.#parts > maxParts || nesting <= 0) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a schema of at most ${maxParts} parts, nested at most ${maxNesting} deep, so that values can be checked, found more; set validation to "off"`,
      );
    }
    const references = this.#references(place, node);
    if (references.length > 0 && this.#draft !== null && this.#draft <= 7) {
      return references[0];
    }
    const converted = this.#keywords(place, node, path, nesting);
    this.#paths.set(converted, path);
    if (references.length > 0) {
      const all = own(converted, "allOf");
      converted["allOf"] = [...references, ...(Array.isArray(all) ? (all as unknown[]) : [])];
    }
    return converted;
  }

  #references(place: JsonSchemaPlace, node: Record<string, unknown>): unknown[] {
    const texts = referenceKeywords
      .filter((keyword) => this.#has(keyword))
      .map((keyword) => own(node, keyword))
      .filter((text) => typeof text === "string");
    return texts.map((text) => {
      const target = this.#documents.resolve(text, place);
      return typeof target.node === "boolean" ? target.node : this.#reference(target, text);
    });
  }

  #keywords(place: JsonSchemaPlace, node: Record<string, unknown>, path: string, nesting: number): Record<string, unknown> {
    const inner = (part: unknown, at: string): unknown => this.#convert(this.#documents.inside(part, place), `${path}/${at}`, nesting - 1);
    const converted: Record<string, unknown> = {};
    for (const keyword of plainKeywords.filter((name) => this.#has(name) && Object.hasOwn(node, name))) {
      converted[keyword] = node[keyword];
    }
    for (const keyword of schemaKeywords.filter((name) => this.#has(name) && Object.hasOwn(node, name))) {
      this.#hasUnevaluated ||= keyword.startsWith("unevaluated");
      const value = node[keyword];
      converted[keyword] = Array.isArray(value) ? value.map((part, i) => inner(part, `${keyword}/${i}`)) : inner(value, keyword);
    }
    for (const keyword of mapKeywords.filter((name) => this.#has(name))) {
      const map = own(node, keyword);
      if (isJsonObject(map)) {
        converted[keyword] = convertMap(map, (part, name) => inner(part, `${keyword}/${name}`));
      }
    }
    namedByPattern(converted);
    const prefix = this.#has("prefixItems") ? own(node, "prefixItems") : undefined;
    const inDraft = inOneDraft(converted, prefix, inner);
    return counted(withoutNullBranch(this.#withoutTuple(inDraft, path)));
  }

  /** Ajv checks no `contains` beside the list of a tuple if the value has no items. */
  #withoutTuple(node: Record<string, unknown>, path: string): Record<string, unknown> {
    if (!Array.isArray(own(node, "items")) || !Object.hasOwn(node, "contains")) {
      return node;
    }
    const part: Record<string, unknown> = {};
    for (const keyword of ["contains", "minContains", "maxContains"].filter((name) => Object.hasOwn(node, name))) {
      part[keyword] = node[keyword];
      delete node[keyword];
    }
    this.#paths.set(part, path);
    node["allOf"] = [...listAt(node, "allOf"), counted(part)];
    return node;
  }

  #has(keyword: string): boolean {
    const { since = 0, until = Number.POSITIVE_INFINITY } = draftsOf.get(keyword) ?? {};
    return this.#draft === null || (this.#draft >= since && this.#draft <= until);
  }
}

/**
 * Moves the null branch of an alternative into a check that comes first. A failed alternative makes an error object for every value that is
 * not null, which takes longer than all other checks of the value.
 */
function withoutNullBranch(node: Record<string, unknown>): Record<string, unknown> {
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = listAt(node, keyword);
    const other = branches.find((branch) => !isNullAlone(branch));
    if (branches.length !== 2 || other === undefined || !branches.some(isNullAlone)) {
      continue;
    }
    delete node[keyword];
    const parts = [{ [costKeyword]: nsOfNullable, if: { type: "null" }, else: other }];
    const oneAlone = keyword === "anyOf" || excludesNull(other) ? [] : [{ not: { allOf: [{ type: "null" }, other] } }];
    node["allOf"] = [...listAt(node, "allOf"), ...parts, ...oneAlone];
  }
  return node;
}

function excludesNull(part: unknown): boolean {
  const type = isJsonObject(part) ? own(part, "type") : undefined;
  return typeof type === "string" ? type !== "null" : Array.isArray(type) && !type.includes("null");
}

function isNullAlone(part: unknown): boolean {
  return isJsonObject(part) && part["type"] === "null" && Object.keys(part).length === 1;
}

/**
 * Adds the cost keyword to parts that one message can check many times: alternatives, and the items or properties of which a list or a map
 * may have any number. What such a part does for each check is counted, too: its own parts and the names that it looks for.
 */
function counted(node: Record<string, unknown>): Record<string, unknown> {
  const alternatives = [...listAt(node, "anyOf"), ...listAt(node, "oneOf"), own(node, "not"), own(node, "if")];
  const parts = [...listAt(node, "allOf"), ...mapsAt(node, ["dependentSchemas", "dependencies"])];
  count(
    node,
    alternatives.reduce((sum: number, part) => sum + costOf(part), 0) +
      nsOfPart * parts.filter((part) => !hasOwnCost(part)).length +
      nsOfDeclaredName * declaredNames(node),
  );
  if (nameKeywords.some((keyword) => Object.hasOwn(node, keyword))) {
    node[namesKeyword] = nsOfName;
  }
  for (const keyword of [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
  ]) {
    countRepeated(own(node, keyword));
  }
  const patterns = own(node, "patternProperties");
  for (const part of isJsonObject(patterns) ? Object.values(patterns) : []) {
    countRepeated(part);
  }
  const contained = own(node, "contains");
  if (isJsonObject(contained) || contained === false) {
    node["contains"] = { [costKeyword]: costOf(contained), allOf: [contained] }; // most items fail it
  }
  return node;
}

/** Keywords that look at each name of an object. */
const nameKeywords = [
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "patternProperties", "minProperties", "maxProperties"],
];

function declaredNames(node: Record<string, unknown>): number {
  const tuple = own(node, "items");
  const lists = [...mapsAt(node, ["dependentRequired", "dependencies"]), own(node, "required"), Array.isArray(tuple) ? tuple : []];
  const inLists = lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return inLists + mapsAt(node, ["properties", "dependentRequired", "dependentSchemas", "dependencies"]).length;
}

function mapsAt(node: Record<string, unknown>, keywords: readonly string[]): readonly unknown[] {
  return keywords.flatMap((keyword) => {
    const map = own(node, keyword);
    return isJsonObject(map) ? Object.values(map) : [];
  });
}

/** A part that counts its cost itself, or that costs nothing. */
function hasOwnCost(part: unknown): boolean {
  return !isJsonObject(part) || Object.hasOwn(part, costKeyword) || Object.hasOwn(part, "$ref");
}

function countRepeated(part: unknown): void {
  count(part, isJsonObject(part) && Object.hasOwn(part, "enum") ? nsOfRepeated + nsOfLookup : nsOfRepeated);
}

function count(part: unknown, ns: number): void {
  if (isJsonObject(part) && !Object.hasOwn(part, "$ref") && ns > 0) {
    part[costKeyword] = ((part[costKeyword] as number | undefined) ?? 0) + ns; // only this function sets the keyword
  }
}

function costOf(part: unknown): number {
  if (!isJsonObject(part)) {
    return part === false ? nsOfAlternative : 0;
  }
  return [...schemaKeywords, ...mapKeywords, "$ref"].some((keyword) => Object.hasOwn(part, keyword))
    ? nsOfWideAlternative
    : nsOfAlternative;
}

function listAt(node: Record<string, unknown>, keyword: string): readonly unknown[] {
  const list = own(node, keyword);
  return Array.isArray(list) ? (list as unknown[]) : [];
}

type Inner = (part: unknown, at: string) => unknown;

/** Converts a map of schemas. A dependency may also be a list of names. */
function convertMap(map: Record<string, unknown>, inner: Inner): Record<string, unknown> {
  // fromEntries defines own properties, also for the name `__proto__`.
  return Object.fromEntries(Object.entries(map).map(([name, part]) => [name, Array.isArray(part) ? part : inner(part, name)]));
}

/** Ajv checks no property with the name `__proto__`, and with `additionalProperties` takes it for another one. A pattern can name it. */
function namedByPattern(node: Record<string, unknown>): void {
  const properties = own(node, "properties");
  if (isJsonObject(properties) && Object.hasOwn(properties, "__proto__")) {
    const patterns = own(node, "patternProperties");
    node["patternProperties"] = { ...(isJsonObject(patterns) ? patterns : {}), "^(?:__proto__)$": own(properties, "__proto__") };
  }
}

/** Rewrites the keywords that draft 4 and draft 2020-12 spell in their own way. */
function inOneDraft(node: Record<string, unknown>, prefix: unknown, inner: Inner): Record<string, unknown> {
  if (Array.isArray(prefix)) {
    const rest = own(node, "items");
    node["items"] = prefix.map((part, i) => inner(part, `prefixItems/${i}`));
    delete node["additionalItems"]; // draft 2020-12 calls it items, and knows no other one
    if (rest !== undefined) {
      node["additionalItems"] = rest;
    }
  }
  for (const [bound, exclusive] of [["maximum", "exclusiveMaximum"] as const, ["minimum", "exclusiveMinimum"] as const]) {
    const isExclusive = own(node, exclusive);
    if (typeof isExclusive === "boolean") {
      delete node[exclusive];
      if (isExclusive && Object.hasOwn(node, bound)) {
        node[exclusive] = node[bound];
        delete node[bound];
      }
    }
  }
  return node;
}
