import type { SideRoute } from "../route.ts";
import type { FastPath } from "./compile.ts";

/** How a record's key and value were read. */
export interface RoutePair {
  readonly key: SideRoute;
  readonly value: SideRoute;
  /** Whether such a record is one value with nothing inside, whose sides need not be checked against each other. */
  readonly isSimple: boolean;
  /** The fast path for others like it, null if there is none; undefined before so many have come that it was worth compiling. */
  fastPath: FastPath | null | undefined;
}

/** Compiling a fast path takes as long as reading this many of the smallest records. */
const recordsBeforeFastPath = 64;

/** The pairs of routes that the records of one topic are read by. What is found out about a pair holds for all records that come in it. */
export class RouteHistory {
  /** The fast path that is tried first, for as long as records come as the last ones did. */
  fastPath: FastPath | null = null;
  readonly #isSimple: (key: SideRoute, value: SideRoute) => boolean;
  readonly #compileFor: (pair: RoutePair) => FastPath | null;
  /** By the route of the value, for as long as somebody else remembers that: schemas may be large. */
  readonly #known = new WeakMap<SideRoute, RoutePair>();
  #last: RoutePair | null = null;
  /** How many records in a row were read as the last pair says. */
  #inARow = 0;

  constructor(isSimple: (key: SideRoute, value: SideRoute) => boolean, compileFor: (pair: RoutePair) => FastPath | null) {
    this.#isSimple = isSimple;
    this.#compileFor = compileFor;
  }

  /** The pair of one more record, which took the slow path. */
  see(key: SideRoute, value: SideRoute): RoutePair {
    const last = this.#last;
    // A record that the fast path missed, although it is read as the last ones were, begins a new row: others may come like it.
    if (last === null || last.key !== key || last.value !== value || this.fastPath !== null) {
      return this.#turnTo(this.#pairOf(key, value));
    }
    this.#count(last);
    return last;
  }

  /** Called when the next records may be written in other ways although their first bytes are the same. */
  interrupt(): void {
    this.#last = null;
    this.fastPath = null;
  }

  #turnTo(pair: RoutePair): RoutePair {
    this.#last = pair;
    this.#inARow = 0;
    this.fastPath = null;
    return pair;
  }

  #count(pair: RoutePair): void {
    this.#inARow++;
    if (this.#inARow === recordsBeforeFastPath && pair.isSimple) {
      if (pair.fastPath === undefined) {
        pair.fastPath = this.#compileFor(pair);
      }
      this.fastPath = pair.fastPath;
    }
  }

  #pairOf(key: SideRoute, value: SideRoute): RoutePair {
    let pair = this.#known.get(value);
    if (pair?.key !== key) {
      pair = { key, value, isSimple: this.#isSimple(key, value), fastPath: undefined };
      this.#known.set(value, pair);
    }
    return pair;
  }
}
