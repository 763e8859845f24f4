import { RE2Set } from "re2js";
import { translatePattern } from "./pattern-translation.ts";
import { patternInvalid } from "./schema-invalid.ts";

/** Takes a cost, in about nanoseconds, from a message's budget. Throws if it is used up. */
export type AddCost = (ns: number) => void;

const nsOfCall = 100;
/** The cost of each step back of the runtime's matcher. Without going back, it takes a nanosecond for each character. */
const nsOfBacktrack = 5;
/** The cost of a call of re2js, which makes lists of its results. */
const nsOfLinearCall = 1_500;
/** The cost of each instruction for each character, if the cache of re2js is too small and its states are made again and again. */
const nsOfInstruction = 25;

/** How much memory re2js may use for the states of a pattern. Its default is 8 MiB for each pattern. */
const maxStateBytes = 16_384;

/**
 * A regular expression that takes time in proportion to its own size and to the text, for any pattern and text. A match cannot be stopped
 * halfway, so its maximum cost is taken from the budget before it starts.
 */
export class BoundedPattern {
  readonly #pattern: string;
  readonly #addCost: AddCost;
  readonly #nsOfCall: number;
  readonly #nsOfChar: number;
  readonly #matches: (text: string) => boolean;

  /** `addInstructions`: called with their number before re2js makes them. It may throw. */
  constructor(pattern: string, addCost: AddCost, addInstructions: (count: number) => void = () => {}) {
    this.#pattern = pattern;
    this.#addCost = addCost;
    const { source, instructions, nativeBacktracking } = translatePattern(pattern);
    // The runtime's matcher is ten times as fast. It is used for patterns that can match in only one way: dates, codes and UUIDs.
    const native = nativeBacktracking === null ? null : nativePattern(pattern);
    if (native === null) {
      addInstructions(instructions);
    }
    this.#nsOfCall = native === null ? nsOfLinearCall : nsOfCall;
    this.#nsOfChar = native === null ? instructions * nsOfInstruction : 1 + nsOfBacktrack * (nativeBacktracking ?? 0);
    this.#matches = native === null ? linearMatcher(source) : (text) => native.test(text);
  }

  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean {
    this.#addCost(this.#nsOfCall + text.length * this.#nsOfChar);
    return this.#matches(text);
  }

  /** ajv compares patterns by their text. */
  toString(): string {
    return `/${this.#pattern}/`;
  }
}

/** The pattern for the runtime's matcher; null if the runtime does not accept it with the flag `u`. */
function nativePattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}

/** A set of one pattern: among the exports of re2js, only sets have a memory limit. */
function linearMatcher(source: string): (text: string) => boolean {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, maxStateBytes);
  try {
    set.add(source);
    set.compile();
  } catch {
    throw patternInvalid("has a part that re2js does not know, or a count that is too high"); // without its message, which would quote the text
  }
  return (text) => set.match(text).length > 0;
}
