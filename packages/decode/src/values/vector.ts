import type { Conversion } from "./conversion.ts";
import { shapeOf, valueInvalid } from "./value-invalid.ts";

/**
 * Vectors of embeddings. A dense vector is an ordinary array of numbers, as `JSON.stringify` and the clients of vector databases take it.
 * `Float32Array.from` makes a typed array of it. A sparse vector is its dimensions and a `Map` from the index of an element to the element.
 */

/** pgvector's VECTOR. */
export function doubleVectorConversion(name: string): Conversion {
  return { array: (items) => items.map((item) => elementOf(name, item)) };
}

/** pgvector's HALFVEC and MySQL's VECTOR: each element rounded to a float32. */
export function floatVectorConversion(name: string): Conversion {
  return { array: (items) => items.map((item) => Math.fround(elementOf(name, item))) };
}

/** pgvector's SPARSEVEC. Depending on the encoding, its map arrives as a `Map`, as pairs, or as objects with a key and a value. */
export function sparseVectorConversion(name: string): Conversion {
  return {
    struct: ({ dimensions, vector }) => ({ dimensions: elementOf(name, dimensions), vector: new Map(elementsOf(name, vector)) }),
  };
}

function elementOf(name: string, item: unknown): number {
  const number = typeof item === "bigint" ? Number(item) : item;
  if (typeof number !== "number") {
    throw valueInvalid(name, "numbers", shapeOf(item));
  }
  return number;
}

function elementsOf(name: string, vector: unknown): (readonly [number, number])[] {
  if (vector instanceof Map || Array.isArray(vector)) {
    return Array.from(vector as Iterable<unknown>, (entry) => entryOf(name, entry));
  }
  throw valueInvalid(name, "a map in its field vector", shapeOf(vector));
}

function entryOf(name: string, entry: unknown): readonly [number, number] {
  if (Array.isArray(entry) && entry.length === 2) {
    return [elementOf(name, entry[0]), elementOf(name, entry[1])];
  }
  if (typeof entry === "object" && entry !== null && "key" in entry && "value" in entry) {
    return [elementOf(name, entry.key), elementOf(name, entry.value)];
  }
  throw valueInvalid(name, "pairs of a place and an element", shapeOf(entry));
}
