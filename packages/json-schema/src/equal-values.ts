import type { AddCost } from "./bounded-pattern.ts";
import { canonicalText } from "./canonical-text.ts";

/** The cost of an item that has parts, in about nanoseconds: its text is made for the comparison. */
const nsOfText = 300;
const nsOfSingle = 150;
/** The cost of each name that is counted. */
const nsOfName = 20;
/** The cost of a character that is compared or hashed. */
const nsOfChar = 0.5;
/** The runtime hashes a longer text by its length alone, so a set compares it with each other text of this length. */
const maxHashedLength = 16_383;

export function areUnique(items: readonly unknown[], addCost: AddCost): boolean {
  const singles = items.filter(isSingle);
  addCost(nsOfSingle * singles.length + nsOfText * (items.length - singles.length));
  const texts = items.filter((item) => !isSingle(item)).map((item) => canonicalText(item, addCost));
  return areDistinct(singles, addCost) && areDistinct(texts, addCost);
}

function areDistinct(values: readonly unknown[], addCost: AddCost): boolean {
  const lengths = new LengthCounts();
  const set = new Set<unknown>();
  for (const value of values) {
    if (typeof value === "string") {
      addCost(lengths.costOf(value));
      lengths.add(value);
    }
    set.add(value);
  }
  return set.size === values.length;
}

/** Whether a value equals one of a list. */
export function isListed(list: readonly unknown[], addCost: AddCost): (value: unknown) => boolean {
  const singles = new Set(list.filter(isSingle));
  const others = list.filter((value) => !isSingle(value));
  const shapes = new Set(others.map((value) => shapeOf(value)));
  const texts = new Set(others.map((value) => canonicalText(value)));
  const [singleLengths, textLengths] = [new LengthCounts(), new LengthCounts()];
  for (const value of singles) {
    singleLengths.add(value);
  }
  for (const text of texts) {
    textLengths.add(text);
  }
  const has = (set: ReadonlySet<unknown>, lengths: LengthCounts, value: unknown): boolean => {
    if (typeof value === "string") {
      if (!lengths.has(value)) {
        return false;
      }
      addCost(lengths.costOf(value));
    }
    return set.has(value);
  };
  return (value) => {
    if (isSingle(value)) {
      return has(singles, singleLengths, value);
    }
    // Most values differ from the list in what they are or in how many parts they have, and then no text is made of them.
    if (shapes.size === 0) {
      return false;
    }
    return shapes.has(shapeOf(value, addCost)) && has(texts, textLengths, canonicalText(value, addCost));
  };
}

/** How many texts of each length there are. */
class LengthCounts {
  readonly #counts = new Map<number, number>();

  add(value: unknown): void {
    if (typeof value === "string") {
      this.#counts.set(value.length, (this.#counts.get(value.length) ?? 0) + 1);
    }
  }

  has({ length }: string): boolean {
    return this.#counts.has(length);
  }

  /** The cost of looking for a text among them. */
  costOf({ length }: string): number {
    return nsOfChar * length * (length > maxHashedLength ? (this.#counts.get(length) ?? 0) : 1);
  }
}

/** What is equal of equal values, and takes little time to find out. */
function shapeOf(value: unknown, addCost: AddCost = () => {}): string {
  if (Array.isArray(value)) {
    return `a${value.length}`;
  }
  const { length } = Object.keys(value as object);
  addCost(nsOfSingle + nsOfName * length);
  return `o${length}`;
}

function isSingle(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}
