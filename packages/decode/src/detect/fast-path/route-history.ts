import type { SideRoute } from "../route.ts";
import type { FastPath } from "./compile.ts";

/** The routes of a record's key and value. */
export interface RoutePair {
  readonly key: SideRoute;
  readonly value: SideRoute;
  /** Whether such a record holds one value with no message inside, and its key needs no check against its value. */
  readonly isSimple: boolean;
  /** The fast path for records with these routes. Null if there can be none. Undefined until enough records have come. */
  fastPath: FastPath | null | undefined;
}

/** Compiling a fast path costs about as much as decoding this many small records. */
const recordsBeforeFastPath = 64;

/** The pairs of routes that the records of one topic have. What was found out about a pair holds for all records that have it. */
export class RouteHistory {
  /** The fast path that is tried first. Null until enough records with the same routes have come in a row. */
  fastPath: FastPath | null = null;
  readonly #isSimple: (key: SideRoute, value: SideRoute) => boolean;
  readonly #compileFor: (pair: RoutePair) => FastPath | null;
  /** Keyed weakly by the route of the value, because a route refers to its schema, and schemas may be large. */
  readonly #known = new WeakMap<SideRoute, RoutePair>();
  #last: RoutePair | null = null;
  /** How many records in a row had the routes of the last pair. */
  #inARow = 0;

  constructor(isSimple: (key: SideRoute, value: SideRoute) => boolean, compileFor: (pair: RoutePair) => FastPath | null) {
    this.#isSimple = isSimple;
    this.#compileFor = compileFor;
  }

  /** The pair of a record that took the slow path. */
  see(key: SideRoute, value: SideRoute): RoutePair {
    const last = this.#last;
    // Records that the fast path misses may come in long runs, although their routes are those of the last records. If the fast path
    // stayed, each record of such a run would be tried on it in vain. So the first miss drops it, and counting starts again.
    if (last === null || last.key !== key || last.value !== value || this.fastPath !== null) {
      return this.#turnTo(this.#pairOf(key, value));
    }
    this.#count(last);
    return last;
  }

  /** Called if the next records may be written in another way although their first bytes are the same. */
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
