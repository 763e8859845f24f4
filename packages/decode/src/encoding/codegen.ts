/**
 * The only place that generates code. Texts from schemas reach it only through {@link quote}; the rest of the generated source is our own
 * templates. `npm run bench -- tiers` measures what that is worth: "generatedReaders" for the readers of each encoding, "fastPath" for the
 * fast path of each topic.
 */
import { BoundedMap } from "../bounded-map.ts";
import type { PlaceholderBytes } from "../values/unavailable.ts";

/** A text as a JavaScript string literal. No text can end the literal early. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** An expression that says whether a value is one of these numbers. Numbers that follow each other are compared as a range. */
export function oneOf(value: string, numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) {
      last[1] = number;
    } else {
      ranges.push([number, number]);
    }
  }
  return ranges.map(([from, to]) => (from === to ? `${value}===${from}` : `${value}>=${from}&&${value}<=${to}`)).join("||");
}

/** An expression that says whether the bytes from `p` to `n` are the placeholder. `test`: the name of its test, which few values need. */
export function placeholderTest({ lengths, starts }: PlaceholderBytes, test: string): string {
  return `(${oneOf("n-p", lengths)})&&(${oneOf("b[p]", starts)})&&${test}(b,p,n)`;
}

/** A property of an object literal. `__proto__` must be computed, because written plainly it would set the prototype. */
function property(name: string): string {
  return name === "__proto__" ? `["__proto__"]` : quote(name);
}

/**
 * Constructors by the names of their properties, as JSON. Sources share them, so that objects with the same properties have the same hidden class,
 * whichever schema they come from: rows of tables with the same columns, and the envelopes of all tables. V8 gives up on code that meets
 * objects of more than four classes. Bench cases: `npm run bench -- mixes --only tables`.
 */
const constructors = new BoundedMap<string, unknown>(4_096, 1_048_576, (names) => names.length);

/**
 * The shapes of the objects that a generated source makes.
 *
 * An object is made by a constructor of ours, not as a literal. V8 counts how many objects of a literal outlive a collection while the code is
 * new. If most do (a batch is held, or the heap is being marked), it makes all later ones in the old generation, for good. Nothing there is freed
 * before a full collection, nor what it refers to, so each young collection copies nearly all that was made: `test/young-events.test.ts` counts
 * the bytes. V8 does not count the objects of a constructor. The prototype is `Object.prototype`, so these objects are as plain as literals.
 */
export class Shapes {
  readonly #names = new Map<string, string>();
  /** The constructors, by the names that expressions of {@link make} have for them. */
  readonly #scope: Record<string, unknown> = {};

  /** An expression that makes an object with these properties, in this order. */
  make(properties: readonly (readonly [name: string, value: string])[]): string {
    // An assignment to a name that Object.prototype has could call a setter, or be refused, where a literal defines the property.
    if (properties.length === 0 || properties.some(([name]) => name in Object.prototype)) {
      return `({${properties.map(([name, value]) => `${property(name)}:${value}`).join(",")}})`;
    }
    return `new ${this.#constructorOf(properties.map(([name]) => name))}(${properties.map(([, value]) => value).join(",")})`;
  }

  #constructorOf(properties: readonly string[]): string {
    const key = JSON.stringify(properties);
    const used = this.#names.get(key);
    if (used !== undefined) {
      return used;
    }
    const name = `Shape${this.#names.size}`;
    const shared = constructors.get(key) ?? makeConstructor(properties);
    constructors.set(key, shared);
    this.#names.set(key, name);
    this.#scope[name] = shared;
    return name;
  }

  /** The same as {@link generate}, for a source that has expressions of {@link make}. */
  generate(source: string, scope: Readonly<Record<string, unknown>>): unknown {
    return generate(source, { ...this.#scope, ...scope });
  }
}

/** From a source of its own: a constructor outlives the readers that use it, and a function keeps the whole source that it is from. */
function makeConstructor(properties: readonly string[]): unknown {
  const parameters = properties.map((_, i) => `a${i}`);
  const assignments = properties.map((property, i) => `this[${quote(property)}]=a${i};`);
  return generate(`function Shape(${parameters.join(",")}){${assignments.join("")}}Shape.prototype=Object.prototype;return Shape;`, {});
}

/** Whether this runtime allows generated code. `--disallow-code-generation-from-strings` and content security policies forbid it. */
export function codeGenerationAllowed(): boolean {
  try {
    return new Function("return true")() === true;
  } catch {
    return false; // an EvalError means no
  }
}

/** Makes a function from generated source. `scope` holds the values that the source refers to by name. */
export function generate(source: string, scope: Readonly<Record<string, unknown>>): unknown {
  return generateMaker(source, Object.keys(scope))(...Object.values(scope));
}

/** Returns what the source returns, with these values for the names of its scope. What it makes of other values shares its code. */
export type Maker = (...values: readonly unknown[]) => unknown;

/** The source may be given other values each time. */
export function generateMaker(source: string, names: readonly string[]): Maker {
  return new Function(...names, `"use strict";\n${source}`) as Maker;
}
