import { fastPathMiss } from "../../encoding/fast-path.ts";
import type { CdcEvent } from "../../event.ts";
import type { RecordCursor } from "../../record.ts";
import type { SideRoute } from "../route.ts";
import type { CodeOwner, FastPath } from "./compile.ts";

/** The routes of a record's key and value. */
export interface RoutePair {
  readonly key: SideRoute;
  readonly value: SideRoute;
}

/** What was found out about a pair of routes. It holds for all records that have them. */
interface KnownPair extends RoutePair {
  /** Whether such a record holds one value with no message inside, and its key needs no check against its value. */
  readonly isSimple: boolean;
  /** Null if there can be none. Undefined until enough records have come. */
  fastPath: FastPath | null | undefined;
  /** How many more records take the slow path before the fast path is tried. */
  rest: number;
  /** How many records the fast path has taken. */
  hits: number;
}

/** A fast path that is tried. */
interface LivePath {
  read: FastPath["read"];
  readonly prefixBytes: number;
  readonly pair: KnownPair;
  /** The one that took the record after the last record that this one took. It is tried first for the next. */
  next: LivePath;
  /** How many records it has missed since its last hit. */
  misses: number;
  hasHit: boolean;
}

/** A fast path costs memory, so it is made for routes that return. */
const recordsBeforeFastPath = 64;

/**
 * A fast path gets code of its own when it has taken so many records. Until then it shares code, because there may be thousands of topics, and
 * a schema may change often. Later would cost more: V8 would have compiled the shared code, and what calls it, and would do so once more.
 */
const recordsBeforeOwnCode = 1_024;

/** How many fast paths of one topic are tried. */
const maxLive = 8;
/** How long their prefixes may be together. The prefix may be the text of a schema, and then the reader takes ten times as much memory. */
const maxPrefixBytes = 1_048_576;

/** A fast path with this many misses in a row is not tried for a while. A JSON reader gives up for good after twice as many. */
const maxMisses = 16;

/**
 * The fast paths of one topic. Records with other routes may stand between those of a pair: tombstones, other tables, other versions of a
 * schema. So a fast path stays when it misses, and several are tried in turn. The order of trying is a guess and changes no result, because
 * a fast path takes only records that the slow path would read in the same way.
 */
export class FastPaths {
  readonly #isSimple: (pair: RoutePair) => boolean;
  readonly #compileFor: (pair: RoutePair, owner: CodeOwner) => FastPath | null;
  /** By the route of the value, then of the key. Weak, because a route refers to its schema, and schemas may be large. */
  readonly #known = new WeakMap<SideRoute, WeakMap<SideRoute, KnownPair>>();
  #live: readonly LivePath[] = [];
  /** The one that took the last record that any of them took. */
  #last: LivePath | null = null;

  constructor(isSimple: (pair: RoutePair) => boolean, compileFor: (pair: RoutePair, owner: CodeOwner) => FastPath | null) {
    this.#isSimple = isSimple;
    this.#compileFor = compileFor;
  }

  /** The events of the record, or {@link fastPathMiss} if it needs the slow path. */
  read(cursor: RecordCursor): readonly CdcEvent[] | typeof fastPathMiss {
    const last = this.#last;
    if (last === null) {
      return fastPathMiss;
    }
    const { next } = last;
    const events = next.read(cursor);
    if (events === fastPathMiss) {
      return this.#readByOther(cursor, last);
    }
    this.#hit(next);
    return events;
  }

  /** The routes of the last record that {@link read} has taken. */
  get lastPair(): RoutePair {
    return (this.#last as LivePath).pair;
  }

  /** Counts a record that took the slow path. Returns whether such records are simple. */
  see(key: SideRoute, value: SideRoute): boolean {
    const pair = this.#pairOf(key, value);
    if (pair.isSimple && --pair.rest <= 0 && !this.#live.some((path) => path.pair === pair)) {
      this.#admit(pair);
    }
    return pair.isSimple;
  }

  /** Called if the next records may be written in another way although their first bytes are the same. */
  interrupt(): void {
    this.#live = [];
    this.#last = null;
  }

  #readByOther(cursor: RecordCursor, last: LivePath): readonly CdcEvent[] | typeof fastPathMiss {
    const { next } = last;
    let events: readonly CdcEvent[] | typeof fastPathMiss = fastPathMiss;
    next.misses++;
    for (const path of this.#live) {
      if (path !== next) {
        events = path.read(cursor);
        if (events !== fastPathMiss) {
          last.next = path;
          this.#hit(path);
          break;
        }
        path.misses++;
      }
    }
    this.#setIdleAside();
    return events;
  }

  #hit(path: LivePath): void {
    this.#last = path;
    path.misses = 0;
    path.hasHit = true;
    if (++path.pair.hits === recordsBeforeOwnCode) {
      this.#giveOwnCode(path);
    }
  }

  #giveOwnCode(path: LivePath): void {
    const own = this.#compileFor(path.pair, "own");
    if (own !== null) {
      path.pair.fastPath = own;
      path.read = own.read;
    }
  }

  /** A long run of records that a fast path misses must not be tried on it in vain. */
  #setIdleAside(): void {
    for (const path of this.#live) {
      if (path.misses >= maxMisses) {
        this.#setAside(path);
      }
    }
  }

  /** A fast path that was of use comes back with the next record of its routes. Another one waits as long as it did at first. */
  #setAside(path: LivePath): void {
    path.pair.rest = path.hasHit ? 1 : recordsBeforeFastPath;
    this.#live = this.#live.filter((other) => other !== path);
    const [first = null] = this.#live;
    for (const other of this.#live) {
      other.next = other.next === path ? other : other.next; // also frees the path, with the schema that it refers to
    }
    this.#last = this.#last === path ? first : this.#last;
  }

  #admit(pair: KnownPair): void {
    if (pair.fastPath === undefined) {
      pair.fastPath = this.#compileFor(pair, "shared");
    }
    const { fastPath } = pair;
    if (fastPath === null) {
      pair.rest = Number.POSITIVE_INFINITY;
      return;
    }
    const path = { ...fastPath, pair, misses: 0, hasHit: false } as LivePath; // `next` follows
    path.next = path;
    this.#live = [...this.#live, path];
    this.#last ??= path;
    this.#makeRoom();
  }

  /** The newest stays, even if it is too large alone. */
  #makeRoom(): void {
    const newest = this.#live.at(-1);
    while (this.#live.length > maxLive || (this.#live.length > 1 && this.#prefixBytes() > maxPrefixBytes)) {
      const others = this.#live.filter((path) => path !== newest);
      const idlest = others.reduce((a, b) => (b.misses > a.misses ? b : a));
      this.#setAside(idlest);
      idlest.pair.rest = recordsBeforeFastPath;
    }
  }

  #prefixBytes(): number {
    return this.#live.reduce((sum, { prefixBytes }) => sum + prefixBytes, 0);
  }

  #pairOf(key: SideRoute, value: SideRoute): KnownPair {
    let ofValue = this.#known.get(value);
    if (ofValue === undefined) {
      ofValue = new WeakMap();
      this.#known.set(value, ofValue);
    }
    let pair = ofValue.get(key);
    if (pair === undefined) {
      pair = { key, value, isSimple: this.#isSimple({ key, value }), fastPath: undefined, rest: recordsBeforeFastPath, hits: 0 };
      ofValue.set(key, pair);
    }
    return pair;
  }
}
