import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { RegisteredSchema } from "../../schema-source.ts";
import type { JsonSchemaDocuments, JsonSchemaPlace } from "../../json-schema-validator.ts";
import { isJsonObject } from "../json/parse.ts";
import { quoted, schemaInvalid } from "./schema-invalid.ts";

/** How deep schemas may be nested in a text. */
const maxNesting = 256;

/** The address of a text that declares none. It leads nowhere, because nothing is ever fetched. */
const nowhere = "schema:///";

/** The keywords that hold schemas: true for a map of schemas by name, false for one schema or a list. */
const holdsMap: ReadonlyMap<string, boolean> = new Map([
  ...["properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"].map((name) => [name, true] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "additionalProperties"].map((name) => [name, false] as const),
  ...["unevaluatedItems", "unevaluatedProperties", "contains", "not", "if", "then", "else"].map((name) => [name, false] as const),
  ...["propertyNames", "contentSchema"].map((name) => [name, false] as const),
]);

/** A schema inside of a text, with the schema around it that has the address of both, or the whole text. */
export interface Place extends JsonSchemaPlace {
  /** Where `#` and the pointers after it start. Not found by its address: two texts may give themselves the same one, copied from an example. */
  readonly resource: unknown;
}

/** The text of a schema and the texts that it refers to, by all names that references may use. */
export class SchemaDocuments implements JsonSchemaDocuments {
  readonly root: Place;
  readonly #named = new Map<string, Place>();

  constructor({ schema, references = [] }: Pick<RegisteredSchema, "schema" | "references">, limits: ResolvedLimits) {
    const chars = references.reduce((sum, reference) => sum + reference.schema.length, schema.length);
    if (chars > limits.maxSchemaChars) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a schema and references of at most ${limits.maxSchemaChars} characters (limits.maxSchemaChars), found ${chars}`,
      );
    }
    for (const reference of references) {
      const name = withoutFragment(reference.name);
      const address = resolveAddress(name, nowhere);
      const place = this.#enter(parseText(reference.schema), address);
      this.#named.set(address, place);
      this.#named.set(name, place);
    }
    this.root = this.#enter(parseText(schema), nowhere);
    this.#named.set(nowhere, this.root);
  }

  /** The schema to which a reference refers. Throws `schema-invalid` if no text has it. */
  resolve(reference: string, from: JsonSchemaPlace): Place {
    const { base, resource } = from as Place; // this class made it, as every place
    const hash = reference.indexOf("#");
    const address = hash < 0 ? reference : reference.slice(0, hash);
    const fragment = hash < 0 ? "" : reference.slice(hash + 1);
    const start = address === "" ? { node: resource, base, resource } : this.#document(address, base);
    const found = start === undefined ? undefined : this.#inside(start, fragment);
    if (found === undefined) {
      throw schemaInvalid(
        `${quoted(reference)} is neither in the schema nor in the references that it is registered with; nothing is fetched by its address, so register it as a reference`,
      );
    }
    return found;
  }

  inside(node: unknown, place: JsonSchemaPlace): Place {
    return placeInside(node, place as Place); // this class made it, as every place
  }

  #document(address: string, base: string): Place | undefined {
    return this.#named.get(resolveAddress(address, base)) ?? this.#named.get(address) ?? this.#named.get(resolveAddress(address, nowhere));
  }

  #inside(start: Place, fragment: string): Place | undefined {
    if (fragment === "" || fragment.startsWith("/")) {
      return atPointer(start, fragment);
    }
    return this.#named.get(`${start.base}#${fragment}`);
  }

  /** Adds the names of a text's schemas. */
  #enter(node: unknown, base: string): Place {
    const place = { node, base: baseOf(node, base), resource: node };
    this.#name(place, maxNesting);
    return place;
  }

  #name(place: Place, nesting: number): void {
    const { node, base } = place;
    if (!isJsonObject(node)) {
      return;
    }
    if (nesting <= 0) {
      throw new DecodeError("limit-exceeded", `expected schemas nested at most ${maxNesting} deep, found deeper ones`);
    }
    if (ownAddress(node) !== null && !this.#named.has(base)) {
      this.#named.set(base, place);
    }
    for (const anchor of anchorsOf(node)) {
      this.#named.set(`${base}#${anchor}`, place);
    }
    for (const part of partsOf(node)) {
      this.#name(placeInside(part, place), nesting - 1);
    }
  }
}

/** A schema inside of another one. */
export function placeInside(node: unknown, { base, resource }: Place): Place {
  const inside = baseOf(node, base);
  return { node, base: inside, resource: inside === base ? resource : node };
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw schemaInvalid("its text is not JSON"); // without the engine's message, which would quote the text
  }
}

/** The schemas inside of a schema, under any keyword. */
function partsOf(node: Record<string, unknown>): unknown[] {
  return Object.keys(node).flatMap((keyword) => {
    const value = node[keyword];
    switch (holdsMap.get(keyword)) {
      case true:
        return isJsonObject(value) ? Object.values(value) : [];
      case false:
        return value; // one schema, or a list
      default:
        return [];
    }
  });
}

/** A keyword's value. Names in a schema are only data, so only own properties are looked up. */
export function own(node: Record<string, unknown>, keyword: string): unknown {
  return Object.hasOwn(node, keyword) ? node[keyword] : undefined;
}

function baseOf(node: unknown, base: string): string {
  const address = isJsonObject(node) ? ownAddress(node) : null;
  return address === null ? base : resolveAddress(address, base);
}

/** The address that a schema gives itself, without its fragment. Draft 4 writes it as `id`. */
function ownAddress(node: Record<string, unknown>): string | null {
  const id = own(node, "$id") ?? own(node, "id");
  const address = typeof id === "string" ? withoutFragment(id) : "";
  return address === "" ? null : address;
}

/** Apicurio names a reference as `$ref` does, with the fragment: `types.json#/definitions/City`. The text that it keeps is the whole one. */
function withoutFragment(address: string): string {
  return address.split("#", 1)[0] as string; // split returns at least one part
}

function anchorsOf(node: Record<string, unknown>): string[] {
  const id = own(node, "$id") ?? own(node, "id");
  const fragment = typeof id === "string" && id.startsWith("#") ? id.slice(1) : "";
  const anchors = [own(node, "$anchor"), own(node, "$dynamicAnchor"), fragment];
  return anchors.filter((anchor) => typeof anchor === "string" && anchor !== "") as string[]; // the filter keeps only texts
}

function resolveAddress(address: string, base: string): string {
  try {
    return new URL(address, base).href.replace(/#$/, "");
  } catch {
    return address; // a name that is no address refers to the text with that name
  }
}

/** Resolves a JSON Pointer (RFC 6901) in the form that a fragment of a URI has. */
function atPointer(start: Place, fragment: string): Place | undefined {
  let place = start;
  for (const item of decodeFragment(fragment).split("/").slice(1)) {
    const name = item.replaceAll("~1", "/").replaceAll("~0", "~");
    const { node } = place;
    const isInside = Array.isArray(node)
      ? /^\d{1,9}$/.test(name) && Number(name) < node.length
      : isJsonObject(node) && Object.hasOwn(node, name);
    if (!isInside) {
      return undefined;
    }
    place = placeInside((node as Record<string, unknown>)[name], place);
  }
  return place;
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
