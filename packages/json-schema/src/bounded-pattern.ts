import { RE2Set } from "re2js";
import { translatePattern } from "./pattern-translation.ts";
import { patternInvalid } from "./schema-invalid.ts";

/** Takes what work costs, in nanoseconds or so, from a message's budget; throws if there is none left. */
export type AddCost = (ns: number) => void;

const nsOfCall = 100;
/** Of the runtime's own matcher, which takes a nanosecond for each character if it never goes back. */
const nsOfBacktrack = 5;
/** Of re2js, whose call makes lists of what it found. */
const nsOfLinearCall = 1_500;
/** For each instruction and each character, while the states that re2js remembers are made again and again. */
const nsOfInstruction = 25;

/** What re2js may remember of a pattern's states. It would take 8 MiB for each pattern by itself. */
const maxStateBytes = 16_384;

/**
 * A regular expression that takes time in proportion to the text and to itself, whatever both are. A match cannot be stopped halfway, so the
 * most that it may cost is spent before it.
 */
export class BoundedPattern {
  readonly #pattern: string;
  readonly #addCost: AddCost;
  readonly #nsOfCall: number;
  readonly #nsOfChar: number;
  readonly #matches: (text: string) => boolean;

  constructor(pattern: string, addCost: AddCost) {
    this.#pattern = pattern;
    this.#addCost = addCost;
    const { source, instructions, nativeBacktracking } = translatePattern(pattern);
    // The runtime's own matcher is ten times as fast. It is taken for what leaves it one way through the text: dates, codes and UUIDs.
    const native = nativeBacktracking === null ? null : nativePattern(pattern);
    this.#nsOfCall = native === null ? nsOfLinearCall : nsOfCall;
    this.#nsOfChar = native === null ? instructions * nsOfInstruction : 1 + nsOfBacktrack * (nativeBacktracking ?? 0);
    this.#matches = native === null ? linearMatcher(source) : (text) => native.test(text);
  }

  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean {
    this.#addCost(this.#nsOfCall + text.length * this.#nsOfChar);
    return this.#matches(text);
  }

  /** ajv tells patterns apart by their text. */
  toString(): string {
    return `/${this.#pattern}/`;
  }
}

/** Null if the runtime reads patterns more strictly. */
function nativePattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}

/** A set of one pattern: of what re2js exports, sets alone have a bound on their memory. */
function linearMatcher(source: string): (text: string) => boolean {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, maxStateBytes);
  try {
    set.add(source);
    set.compile();
  } catch {
    throw patternInvalid("has a part that re2js does not know, or counts too high"); // its message would quote the text
  }
  return (text) => set.match(text).length > 0;
}
