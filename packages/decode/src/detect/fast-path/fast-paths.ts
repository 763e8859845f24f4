import { BoundedMap } from "../../bounded-map.ts";
import { fastPathMiss } from "../../encoding/fast-path.ts";
import type { CdcEvent } from "../../event.ts";
import type { RecordCursor } from "../../record.ts";
import type { SideRoute } from "../route.ts";
import type { CodeOwner, FastPath } from "./compile.ts";
import { tableMarkOf } from "./table-mark.ts";

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
  path: KnownPath | null | undefined;
  /** How many more records take the slow path before the fast path is tried. */
  rest: number;
  /** How many records the fast path has taken. */
  hits: number;
}

/** The fast path of a pair. It is live, or tried for the mark of its table, or waits. */
interface KnownPath extends FastPath {
  read: FastPath["read"];
  readonly pair: KnownPair;
  /** The one that took the record after the last record that this one took. It is tried first for the next. */
  next: KnownPath;
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

/** How many fast paths of one topic are tried in turn. */
const maxLive = 8;
/** How long their prefixes may be together. The prefix may be the text of a schema, and then the reader takes ten times as much memory. */
const maxPrefixBytes = 1_048_576;
/** As many are tried in turn before the mark of a record's table is asked for, because looking for it takes as long as two or three misses. */
const maxUnmarked = 4;

/** No frame with a schema id is longer. */
const maxFrameBytes = 32;

/** After so many surprises, tables come at random: the mark is asked for first. */
const maxSurprises = 32;

/** How many fast paths of one topic are remembered by the mark of a table, and how long their prefixes may be together. */
const maxMarked = 1_024;
const maxMarkedBytes = 4_194_304;

/** A fast path with this many misses in a row is not tried for a while. */
const maxMisses = 16;

/**
 * The fast paths of one topic. Records with other routes may stand between those of a pair: tombstones, other tables, other versions of a
 * schema. So a fast path stays when it misses, and several are tried: the one that came next the last time, then the one of the record's table,
 * then the others in turn. The order of trying is a guess and changes no result, because a fast path takes only records that the slow path
 * would read in the same way.
 */
export class FastPaths {
  readonly #isSimple: (pair: RoutePair) => boolean;
  readonly #compileFor: (pair: RoutePair, owner: CodeOwner) => FastPath | null;
  /** By the route of the value, then of the key. Weak, because a route refers to its schema, and schemas may be large. */
  readonly #known = new WeakMap<SideRoute, WeakMap<SideRoute, KnownPair>>();
  #live: readonly KnownPath[] = [];
  #headBytes = { key: 0, value: 0 };
  /** By the mark of a table, also those that are not tried in turn. */
  #marked = noneMarked();
  /** Of the last record that the first one tried has missed. 0 if it has none. */
  #mark = 0;
  /** How many more records than not were taken by another than the one that came next the last time. */
  #surprises = 0;
  /** The one that took the last record that any of them took. */
  #last: KnownPath | null = null;

  constructor(isSimple: (pair: RoutePair) => boolean, compileFor: (pair: RoutePair, owner: CodeOwner) => FastPath | null) {
    this.#isSimple = isSimple;
    this.#compileFor = compileFor;
  }

  /** The events of the record, or {@link fastPathMiss} if it needs the slow path. */
  read(cursor: RecordCursor): readonly CdcEvent[] | typeof fastPathMiss {
    const last = this.#last;
    if (last === null) {
      this.#mark = 0;
      return fastPathMiss;
    }
    const first = this.#surprises < maxSurprises ? last.next : (this.#pathOfTable(cursor) ?? last.next);
    const events = this.#try(first, cursor, last);
    return events === fastPathMiss ? this.#readByOther(cursor, last, first) : events;
  }

  /** The routes of the last record that {@link read} has taken. */
  get lastPair(): RoutePair {
    return (this.#last as KnownPath).pair;
  }

  /** Counts a record that took the slow path. Returns whether such records are simple. */
  see(key: SideRoute, value: SideRoute): boolean {
    const pair = this.#pairOf(key, value);
    const isLive = this.#live.some((path) => path.pair === pair);
    if (pair.path && !isLive) {
      pair.path.next = pair.path; // what came next before an interruption may be written in another way now
    }
    if (pair.isSimple && --pair.rest <= 0 && !isLive) {
      this.#admit(pair);
    }
    this.#remember(pair.path);
    return pair.isSimple;
  }

  /** Called if the next records may be written in another way although their first bytes are the same. */
  interrupt(): void {
    this.#live = [];
    this.#last = null;
    this.#marked = noneMarked();
  }

  #readByOther(cursor: RecordCursor, last: KnownPath, first: KnownPath): readonly CdcEvent[] | typeof fastPathMiss {
    const second = (first === last.next ? this.#pathOfTable(cursor) : last.next) ?? first;
    let events = second === first ? fastPathMiss : this.#try(second, cursor, last);
    for (const path of this.#live) {
      if (events !== fastPathMiss) {
        break;
      }
      if (path !== first && path !== second) {
        events = this.#try(path, cursor, last);
        this.#remember(events === fastPathMiss ? undefined : path);
      }
    }
    this.#setIdleAside();
    return events;
  }

  #try(path: KnownPath, cursor: RecordCursor, last: KnownPath): readonly CdcEvent[] | typeof fastPathMiss {
    const events = path.read(cursor);
    if (events === fastPathMiss) {
      path.misses++;
    } else {
      this.#hit(path, last);
    }
    return events;
  }

  /** The path that took the last record with the mark of this one. */
  #pathOfTable(cursor: RecordCursor): KnownPath | undefined {
    this.#mark = this.#live.length > maxUnmarked || this.#marked.size > 0 ? tableMarkOf(cursor, this.#headBytes) : 0;
    return this.#mark === 0 ? undefined : this.#marked.get(this.#mark);
  }

  /** The next record with this mark is tried on this path first. */
  #remember(path: KnownPath | null | undefined): void {
    if (this.#mark !== 0 && path) {
      this.#marked.set(this.#mark, path);
    }
  }

  #hit(path: KnownPath, last: KnownPath): void {
    if (last.next !== path) {
      last.next = path;
      this.#surprises = Math.min(2 * maxSurprises, this.#surprises + 1);
    } else if (this.#surprises > 0) {
      this.#surprises--;
    }
    this.#last = path;
    path.misses = 0;
    path.hasHit = true;
    if (++path.pair.hits === recordsBeforeOwnCode) {
      this.#giveOwnCode(path);
    }
  }

  #giveOwnCode(path: KnownPath): void {
    const own = this.#compileFor(path.pair, "own");
    if (own !== null) {
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
  #setAside(path: KnownPath): void {
    path.pair.rest = path.hasHit ? 1 : recordsBeforeFastPath;
    path.next = path;
    this.#live = this.#live.filter((other) => other !== path);
    const [first = null] = this.#live;
    for (const other of this.#live) {
      other.next = other.next === path ? other : other.next; // also frees the path, with the schema that it refers to
    }
    this.#last = this.#last === path ? first : this.#last;
  }

  #admit(pair: KnownPair): void {
    const path = pair.path === undefined ? this.#pathFor(pair) : pair.path;
    pair.path = path;
    if (path === null) {
      pair.rest = Number.POSITIVE_INFINITY;
      return;
    }
    path.misses = 0;
    this.#live = [...this.#live, path];
    this.#last ??= path;
    this.#makeRoom();
  }

  #pathFor(pair: KnownPair): KnownPath | null {
    const fastPath = this.#compileFor(pair, "shared");
    if (fastPath === null) {
      return null;
    }
    const path = { ...fastPath, pair, misses: 0, hasHit: false } as KnownPath; // `next` follows
    path.next = path;
    const { key, value } = this.#headBytes;
    this.#headBytes = { key: Math.max(key, frameBytes(path.keyPrefixBytes)), value: Math.max(value, frameBytes(path.valuePrefixBytes)) };
    return path;
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
    return this.#live.reduce((sum, path) => sum + prefixBytes(path), 0);
  }

  #pairOf(key: SideRoute, value: SideRoute): KnownPair {
    let ofValue = this.#known.get(value);
    if (ofValue === undefined) {
      ofValue = new WeakMap();
      this.#known.set(value, ofValue);
    }
    let pair = ofValue.get(key);
    if (pair === undefined) {
      pair = { key, value, isSimple: this.#isSimple({ key, value }), path: undefined, rest: recordsBeforeFastPath, hits: 0 };
      ofValue.set(key, pair);
    }
    return pair;
  }
}

/** The length of a prefix that is the frame of a schema id, and not a brace or the text of a schema. */
function frameBytes(prefixLength: number): number {
  return prefixLength > 1 && prefixLength <= maxFrameBytes ? prefixLength : 0;
}

function noneMarked(): BoundedMap<number, KnownPath> {
  return new BoundedMap(maxMarked, maxMarkedBytes, (_, path) => prefixBytes(path));
}

function prefixBytes({ keyPrefixBytes, valuePrefixBytes }: FastPath): number {
  return keyPrefixBytes + valuePrefixBytes;
}
