import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { RegisteredSchema } from "../../schema-source.ts";
import { isJsonObject } from "../json/parse.ts";
import { type Field, fieldOf, type RecordType, type Type, type UnionType } from "../type.ts";
import { own, type Place, placeInside, SchemaDocuments } from "./documents.ts";
import { declaredKinds, describedKinds, enumType, scalarType, semanticOf, unionOf } from "./keywords.ts";
import { quoted, schemaInvalid } from "./schema-invalid.ts";

/** Limits the schemas of all texts together. A schema counts again each time that a reference repeats it. */
const maxParts = 100_000;
/** How deep types may be nested, because code that walks them later may recurse. */
const maxNesting = 256;

/** Parses a JSON Schema: the type that it describes, and its texts. */
export function parseJsonSchema(
  schema: RegisteredSchema,
  limits: ResolvedLimits,
): { readonly type: Type; readonly documents: SchemaDocuments } {
  const documents = new SchemaDocuments(schema, limits);
  return { type: new TypeBuilder(documents).typeOf(documents.root), documents };
}

/** A schema whose type is being built. */
interface Open {
  /** The type, if it is known already. It may be used if a record lies between. */
  readonly union: UnionType | null;
  readonly records: number;
  readonly containers: number;
}

class TypeBuilder {
  readonly #documents: SchemaDocuments;
  readonly #hasConst: boolean;
  readonly #types = new Map<unknown, Type>();
  readonly #open = new Map<unknown, Open>();
  #parts = 0;
  #nesting = 0;
  // How many records, and how many records, arrays and maps together, contain the current schema.
  #records = 0;
  #containers = 0;

  constructor(documents: SchemaDocuments) {
    this.#documents = documents;
    const { node } = documents.root;
    this.#hasConst = !(isJsonObject(node) && /\bdraft-0?[34]\b/.test(String(own(node, "$schema"))));
  }

  /** The type of a schema. The same schema has the same object, so that a record may contain itself. */
  typeOf(place: Place): Type {
    this.#count();
    const { node } = place;
    if (typeof node === "boolean") {
      return { kind: "any" };
    }
    const known = this.#types.get(node) ?? this.#recursive(node);
    if (known !== undefined) {
      return known;
    }
    if (this.#nesting >= maxNesting) {
      throw new DecodeError("limit-exceeded", `expected types nested at most ${maxNesting} deep, found deeper ones`);
    }
    this.#nesting++;
    const all = this.#conjuncts(place);
    const typed = all.filter((part) => saysType(part.node as Record<string, unknown>)); // #conjuncts returns only objects
    const only = typed[0];
    // A reference with annotations has the type of the schema to which it refers. All such references share one object.
    const type = typed.length === 1 && only !== undefined && only.node !== node ? this.#alias(node, only) : this.#build(node, typed);
    this.#nesting--;
    this.#types.set(node, type);
    return type;
  }

  #alias(node: unknown, target: Place): Type {
    return this.#inside(node, null, () => this.typeOf(target));
  }

  /**
   * The type of a schema inside of itself. If a record lies between, it is the type that is being built. A cycle of arrays and maps alone
   * has no finite type, so it becomes any JSON value. A schema that refers to itself without a container is invalid.
   */
  #recursive(node: unknown): Type | undefined {
    const open = this.#open.get(node);
    if (open === undefined) {
      return undefined;
    }
    if (open.union !== null && this.#records > open.records) {
      return open.union;
    }
    if (this.#containers > open.containers) {
      return { kind: "any" }; // a list of such lists: the JSON text says what is in it
    }
    throw schemaInvalid("a reference refers to itself without a property or an item in between");
  }

  #inside<Result>(node: unknown, union: UnionType | null, build: () => Result): Result {
    this.#open.set(node, { union, records: this.#records, containers: this.#containers });
    const result = build();
    this.#open.delete(node);
    return result;
  }

  #count(): void {
    if (++this.#parts > maxParts) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a schema of at most ${maxParts} parts, including those that references repeat, found more`,
      );
    }
  }

  /** The schemas that a value must all match: this one, those that it refers to, and its `allOf`. */
  #conjuncts(place: Place): Place[] {
    const found: Place[] = [];
    const done = new Set<unknown>();
    const visit = (part: Place, open: readonly unknown[]): void => {
      const { node } = part;
      if (typeof node === "boolean") {
        return;
      }
      if (!isJsonObject(node)) {
        throw schemaInvalid("a value that is neither an object nor true or false is used as a schema");
      }
      if (open.includes(node)) {
        throw schemaInvalid("a reference refers to itself without a property or an item in between");
      }
      if (done.has(node)) {
        return;
      }
      this.#count();
      done.add(node);
      found.push(part);
      if (open.length >= maxNesting) {
        throw new DecodeError("limit-exceeded", `expected a chain of at most ${maxNesting} references, found a longer one`);
      }
      const inner = [...open, node];
      for (const next of this.#referred(part, node)) {
        visit(next, inner);
      }
    };
    visit(place, []);
    return found;
  }

  #referred(place: Place, node: Record<string, unknown>): Place[] {
    const references = ["$ref", "$dynamicRef", "$recursiveRef"].map((keyword) => own(node, keyword));
    const texts = references.filter((reference) => typeof reference === "string");
    return [...texts.map((text) => this.#documents.resolve(text, place)), ...partsIn(own(node, "allOf"), place)];
  }

  #build(node: unknown, places: readonly Place[]): Type {
    const nodes = places.map((place) => place.node as Record<string, unknown>); // #conjuncts returns only objects
    const symbols = enumType(nodes, this.#hasConst);
    if (symbols !== null) {
      return symbols;
    }
    const kinds = declaredKinds(nodes) ?? describedKinds(nodes);
    const alternatives = places.map((place) => alternativesOf(place)).find((list) => list.length > 0);
    if (alternatives !== undefined && !hasSubstance(nodes, kinds)) {
      return this.#alternatives(node, alternatives);
    }
    if (kinds === null) {
      return { kind: "any" };
    }
    const branches = kinds
      .filter((kind) => kind !== "object")
      .map((kind) => (kind === "array" ? this.#array(node, places) : scalarType(kind, nodes)));
    return kinds.includes("object") ? this.#object(node, places, branches) : unionOf(branches);
  }

  #alternatives(node: unknown, alternatives: readonly Place[]): Type {
    const branches: Type[] = [];
    const union: UnionType = { kind: "union", branches };
    const types = this.#inside(node, union, () => alternatives.map((alternative) => this.typeOf(alternative)));
    const whole = unionOf(types);
    for (const branch of whole.kind === "union" ? whole.branches : [whole]) {
      branches.push(branch);
    }
    return whole.kind === "union" ? union : whole;
  }

  #array(node: unknown, places: readonly Place[]): Type {
    const nodes = places.map((place) => place.node as Record<string, unknown>);
    const place = places.find((part) => own(part.node as Record<string, unknown>, "items") !== undefined);
    const items = place === undefined ? undefined : own(place.node as Record<string, unknown>, "items");
    const isTuple = Array.isArray(items) || nodes.some((part) => Object.hasOwn(part, "prefixItems"));
    if (place === undefined || items === undefined || isTuple) {
      return { kind: "array", items: { kind: "any" }, ...otherKinds(nodes) };
    }
    const inner = this.#contained(node, placeInside(items, place));
    const isMap = nodes.some((part) => own(part, "connect.type") === "map");
    return (isMap ? entriesType(inner) : null) ?? { kind: "array", items: inner, ...semanticOf(nodes), ...otherKinds(nodes) };
  }

  #contained(node: unknown, place: Place): Type {
    return this.#inside(node, null, () => {
      this.#containers++;
      const type = this.typeOf(place);
      this.#containers--;
      return type;
    });
  }

  /** A record if properties are named; otherwise a map, or a record without known columns. `others` are the alternatives to it. */
  #object(node: unknown, places: readonly Place[], others: readonly Type[]): Type {
    const nodes = places.map((place) => place.node as Record<string, unknown>);
    const properties = propertiesOf(places);
    const values = mapValues(places);
    const isMap = nodes.some((part) => own(part, "connect.type") === "map");
    if (isMap || (properties.size === 0 && values !== null)) {
      const map: Type = { kind: "map", keys: null, values: values === null ? { kind: "any" } : this.#contained(node, values) };
      return unionOf([...others, { ...map, ...otherKinds(nodes) }]);
    }
    const fields: Field[] = []; // filled below, because the record may contain itself
    const meaning = semanticOf(nodes);
    const record: RecordType = { kind: "record", name: meaning.semantic?.name ?? null, fields, ...meaning, ...otherKinds(nodes) };
    const type = unionOf([...others, record]);
    this.#types.set(node, type);
    this.#records++;
    this.#containers++;
    for (const [name, [first, ...more]] of inConnectOrder(properties)) {
      fields.push(fieldOf(name, this.#property(first as Place, more), parametersIn((first as Place).node))); // propertiesOf makes no empty list
    }
    this.#records--;
    this.#containers--;
    return type;
  }

  /** The type of a property that several schemas declare is that of the first one that declares a type. */
  #property(first: Place, more: readonly Place[]): Type {
    const type = this.typeOf(first);
    return type.kind === "any" && more[0] !== undefined ? this.#property(more[0], more.slice(1)) : type;
  }
}

/** The parameters of a property, or of one of its alternatives if it is optional. */
function parametersIn(property: unknown): unknown {
  const nodes = [property, ...(isJsonObject(property) && Array.isArray(property["oneOf"]) ? property["oneOf"] : [])];
  return nodes.map((node: unknown) => (isJsonObject(node) ? own(node, "connect.parameters") : undefined)).find(isJsonObject);
}

const typeKeywords: ReadonlySet<string> = new Set([
  ...["type", "connect.type", "properties", "patternProperties", "additionalProperties", "required", "items", "prefixItems"],
  ...["enum", "const", "anyOf", "oneOf", "format"],
]);

/** Whether a schema itself has keywords about the type. */
function saysType(node: Record<string, unknown>): boolean {
  return Object.keys(node).some((keyword) => typeKeywords.has(keyword));
}

/** Whether the schemas describe the content of their types. If they do, alternatives beside them only restrict it. */
function hasSubstance(nodes: readonly Record<string, unknown>[], kinds: readonly string[] | null): boolean {
  if (kinds === null) {
    return false;
  }
  const isScalar = kinds.some((kind) => kind !== "object" && kind !== "array" && kind !== "null");
  return isScalar || nodes.some((node) => ["properties", "items", "patternProperties"].some((keyword) => Object.hasOwn(node, keyword)));
}

function otherKinds(nodes: readonly Record<string, unknown>[]): { readonly allowsOtherKinds?: true } {
  return declaredKinds(nodes) === null ? { allowsOtherKinds: true } : {};
}

function partsIn(list: unknown, place: Place): Place[] {
  return Array.isArray(list) ? list.map((node: unknown) => placeInside(node, place)) : [];
}

function alternativesOf(place: Place): Place[] {
  const node = place.node as Record<string, unknown>; // #conjuncts returns only objects
  const oneOf = partsIn(own(node, "oneOf"), place);
  return oneOf.length > 0 ? oneOf : partsIn(own(node, "anyOf"), place);
}

/** The type of a map whose keys are not strings. Connect writes it as a list of objects with `key` and `value`. */
function entriesType(items: Type): Type | null {
  const fields = items.kind === "record" ? items.fields : [];
  const keys = fields.find((field) => field.name === "key");
  const values = fields.find((field) => field.name === "value");
  return keys === undefined || values === undefined ? null : { kind: "map", keys: keys.type, values: values.type };
}

/** The schema of a map's values: one that holds whatever a value's name is. Null if there is none. */
function mapValues(places: readonly Place[]): Place | null {
  for (const place of places) {
    const node = place.node as Record<string, unknown>;
    const additional = own(node, "additionalProperties");
    const patterns = own(node, "patternProperties");
    const [only, ...more] = isJsonObject(patterns) ? Object.entries(patterns) : [];
    if (only === undefined && isJsonObject(additional) && Object.keys(additional).length > 0) {
      return placeInside(additional, place);
    }
    if (only !== undefined && more.length === 0 && (additional === false || matchesAnyName.test(only[0]))) {
      return placeInside(only[1], place);
    }
  }
  return null;
}

/** The patterns that generators of schemas write for any name. */
const matchesAnyName = /^(?:\^?(?:\.[*+]|\(\.[*+]\))\$?)?$/;

function propertiesOf(places: readonly Place[]): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  for (const place of places) {
    const properties = own(place.node as Record<string, unknown>, "properties");
    if (properties !== undefined && !isJsonObject(properties)) {
      throw schemaInvalid("the value of properties is not an object");
    }
    for (const [name, node] of Object.entries(properties ?? {})) {
      if (typeof node !== "boolean" && !isJsonObject(node)) {
        throw schemaInvalid(`the property ${quoted(name)} has no schema`);
      }
      const property = placeInside(node, place);
      const known = found.get(name);
      if (known === undefined) {
        found.set(name, [property]);
      } else {
        known.push(property);
      }
    }
  }
  return found;
}

/** Sorts fields by the order that Connect notes, because the text of a schema does not keep the order of a struct. */
function inConnectOrder(properties: ReadonlyMap<string, readonly Place[]>): (readonly [string, readonly Place[]])[] {
  const entries = [...properties];
  return entries
    .map((entry, i) => ({ entry, index: connectIndex(entry[1]) ?? i }))
    .sort((one, other) => one.index - other.index)
    .map(({ entry }) => entry);
}

function connectIndex(places: readonly Place[]): number | null {
  for (const { node } of places) {
    const index = isJsonObject(node) ? own(node, "connect.index") : undefined;
    if (typeof index === "number") {
      return index;
    }
  }
  return null;
}
