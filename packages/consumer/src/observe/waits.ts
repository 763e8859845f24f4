import type { Clock } from "../clock.ts";
import { causeText } from "./cause-text.ts";
import { LineLimit } from "./line-limit.ts";
import type { Logger } from "./logger.ts";

/** What is waited for, and where. */
export interface WaitFor {
  /** The subject of the sentence that health and logs make of it: `the sink "postgres"`, `schema 7`, `the connection`. */
  readonly what: string;
  /** Who is asked: `db.example.com:5432`, an address of the registry, the brokers. No credentials. */
  readonly host?: string;
  /** The topic, partition or record that waits: `orders`, `orders[0]`, `orders[0]@17`. */
  readonly place?: string;
  /** What failed. Absent while nothing has failed and no answer has come. */
  readonly cause?: unknown;
  /**
   * Why the last attempt of whoever is asked failed, while it goes on by itself: a registry that is to be asked again after a pause. Asked for
   * when a report or a line is made, and undefined if nothing has failed.
   */
  readonly lastFailure?: () => unknown;
}

/** A wait that is under way. */
export interface OpenWait {
  /** One more attempt failed, and the wait goes on. */
  failed(cause: unknown): void;
  /** It succeeded, or nobody waits any more. Idempotent. */
  end(): void;
}

/** A wait for work that is tried again by this process itself, and not by somebody who is asked. */
export interface RetriedWork extends OpenWait {
  /** One more attempt failed. `next`: the attempt that follows. */
  failed(cause: unknown, next?: NextAttempt): void;
}

/** What follows an attempt that failed. */
export interface NextAttempt {
  /** The number of the attempt that failed, from 1. */
  readonly attempt: number;
  /** How many there may be. Null if nothing limits them. */
  readonly attempts: number | null;
  readonly delayMs: number;
}

/** A wait, as the health report shows it. */
export interface WaitReport {
  /** What is waited for, as the subject of a sentence: `the handler of "orders"`, `schema 7`, `the connection`. */
  readonly what: string;
  /**
   * Who is asked: `db.example.com:5432`, an address of a registry, the brokers. No credentials. Null if it is nobody outside of the
   * process.
   */
  readonly host: string | null;
  /** The topic, partition or record that waits: `orders`, `orders[0]`, `orders[0]@17`. Null if it is about none. */
  readonly place: string | null;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** How long it has lasted, in milliseconds. */
  readonly forMs: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Why the last attempt failed, or the last one of a registry's client that asks again by itself. Null while none has. */
  readonly cause: string | null;
}

export interface WaitParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Work that is in hand at this moment: a handler or a sink that has not answered yet. */
export type WorkInHand = Omit<WaitFor, "cause" | "lastFailure">;

interface Entry {
  readonly id: string;
  readonly wait: WaitFor;
  readonly sinceMs: number;
  /** The same moment by the wall clock, read once: a report that derived it from both clocks would give it another millisecond each time. */
  readonly sinceWallMs: number;
  /** Those that have not ended. Empty if the work was only seen at work. */
  readonly openings: Set<OpenWait>;
  /** The look at which it was last seen at work. */
  seenAtLook: number;
  failures: number;
  cause: unknown;
  next: NextAttempt | null;
  /** The age at which a line was last due. Null before that. */
  dueAtMs: number | null;
  gapMs: number;
  /** A line was written, and not left out among many. */
  isLogged: boolean;
}

const lookEveryMs = 1_000;
/** A wait that lasts longer than this is shown even if nothing has failed. Together with the interval of looks it stays below 5 s. */
const shownAfterMs = 3_000;
/** A handler of the application may take long without being in trouble: a log line for each would be noise. */
const workLoggedAfterMs = 30_000;
const firstGapMs = 5_000;
const maxGapMs = 60_000;
const maxShown = 10;

/**
 * Everything that is waited for or retried at this moment. A wait stays open between attempts, so that it is seen at any time. It ends with
 * success, or when nobody waits any more. Work that is merely in hand is not registered at all: it is looked at once a second, so that the
 * normal path costs nothing.
 */
export class Waits {
  readonly #parts: WaitParts;
  /** In the order in which they began. */
  readonly #entries = new Map<string, Entry>();
  /** What ends with each owner. Every partition that goes asks for its own, and thousands of records of the others may wait. */
  readonly #owned = new Map<object, Map<OpenWait, Entry>>();
  #atWork: () => Iterable<WorkInHand> = () => [];
  readonly #limit = new LineLimit();
  #look = 0;
  #cancelLook: () => void = () => {};
  #isClosed = false;

  constructor(parts: WaitParts) {
    this.#parts = parts;
  }

  /** Looks once a second at the work in hand, until {@link close}. */
  start(atWork: () => Iterable<WorkInHand>): void {
    this.#atWork = atWork;
    this.#lookLater();
  }

  /** Nothing is waited for any more, and no wait is opened. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLook();
    this.#entries.forEach(({ openings }) => openings.clear());
    this.#entries.clear();
    this.#owned.clear();
  }

  /**
   * Opens a wait, or joins the wait for the same thing in the same place: then the start of that one counts. `owner`: the wait ends with
   * it, for example with the assignment of its partition ({@link endOf}).
   */
  open(wait: WaitFor, owner: object | null = null): RetriedWork {
    if (this.#isClosed) {
      return noWait;
    }
    const id = idOf(wait);
    const entry = this.#entries.get(id) ?? this.#add(id, wait);
    const opening: RetriedWork = {
      failed: (cause, next) => {
        if (entry.openings.has(opening)) {
          this.#failed(entry, cause, next);
        }
      },
      end: () => {
        if (entry.openings.delete(opening)) {
          this.#disown(opening, owner);
          this.#endUnlessOpen(entry);
        }
      },
    };
    entry.openings.add(opening);
    this.#own(opening, owner, entry);
    if (wait.cause !== undefined) {
      this.#failed(entry, wait.cause);
    }
    return opening;
  }

  /** Ends what was opened for this owner. If others have opened the same wait, it goes on. */
  endOf(owner: object): void {
    for (const [opening, entry] of this.#owned.get(owner) ?? []) {
      entry.openings.delete(opening);
      this.#endUnlessOpen(entry);
    }
    this.#owned.delete(owner);
  }

  /** The waits that have failed, or that last for some seconds, the oldest first. */
  report(): readonly WaitReport[] {
    const { clock } = this.#parts;
    const nowMs = clock.nowMs();
    const shown: WaitReport[] = [];
    for (const entry of this.#entries.values()) {
      const forMs = nowMs - entry.sinceMs;
      if (entry.failures > 0 || forMs >= shownAfterMs) {
        const { what, host = null, place = null } = entry.wait;
        const { cause = null } = shownFailure(entry);
        shown.push({ what, host, place, since: entry.sinceWallMs, forMs: Math.round(forMs), failures: entry.failures, cause });
      }
    }
    return shown;
  }

  #own(opening: OpenWait, owner: object | null, entry: Entry): void {
    if (owner === null) {
      return;
    }
    const own = this.#owned.get(owner) ?? new Map<OpenWait, Entry>();
    own.set(opening, entry);
    this.#owned.set(owner, own);
  }

  #disown(opening: OpenWait, owner: object | null): void {
    const own = owner === null ? undefined : this.#owned.get(owner);
    own?.delete(opening);
    if (owner !== null && own?.size === 0) {
      this.#owned.delete(owner);
    }
  }

  #add(id: string, wait: WaitFor): Entry {
    const entry: Entry = {
      id,
      wait,
      sinceMs: this.#parts.clock.nowMs(),
      sinceWallMs: Math.round(this.#parts.clock.wallMs()),
      openings: new Set(),
      seenAtLook: -1,
      failures: 0,
      cause: undefined,
      next: null,
      dueAtMs: null,
      gapMs: firstGapMs,
      isLogged: false,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #failed(entry: Entry, cause: unknown, next: NextAttempt | null = null): void {
    entry.failures++;
    entry.cause = cause;
    entry.next = next;
    this.#logIfDue(entry, 0);
  }

  #endUnlessOpen(entry: Entry): void {
    if (entry.openings.size > 0 || this.#entries.get(entry.id) !== entry) {
      return;
    }
    this.#entries.delete(entry.id);
    if (!entry.isLogged) {
      return;
    }
    const { what, host, place } = entry.wait;
    const nowMs = this.#parts.clock.nowMs();
    const leftOut = this.#limit.admit(`end of ${kindOf(entry.wait)}`, nowMs);
    if (leftOut !== null) {
      // as its beginning: who reads warnings alone would take it for a wait that goes on
      this.#parts.logger.warn(
        { what, host, place, forMs: Math.round(nowMs - entry.sinceMs), failures: entry.failures, ...counted(leftOut) },
        `${subjectOf(entry.wait)} is not waited for any more`,
      );
    }
  }

  #lookLater(): void {
    this.#cancelLook = this.#parts.clock.after(lookEveryMs, () => {
      this.#lookAtWork();
      this.#lookLater();
    });
  }

  #lookAtWork(): void {
    this.#look++;
    for (const work of this.#atWork()) {
      const id = idOf(work);
      const entry = this.#entries.get(id) ?? this.#add(id, work);
      entry.seenAtLook = this.#look;
    }
    for (const entry of this.#entries.values()) {
      const isWork = entry.openings.size === 0;
      if (isWork && entry.seenAtLook !== this.#look) {
        this.#endUnlessOpen(entry);
      } else {
        this.#logIfDue(entry, isWork ? workLoggedAfterMs : shownAfterMs);
      }
    }
  }

  /**
   * The first line comes at once, or after a while if nothing has failed. The next lines come with growing gaps. Of many waits for one thing, a
   * few lines are written.
   */
  #logIfDue(entry: Entry, firstAfterMs: number): void {
    const nowMs = this.#parts.clock.nowMs();
    const forMs = nowMs - entry.sinceMs;
    if (entry.dueAtMs === null ? forMs < firstAfterMs : forMs - entry.dueAtMs < entry.gapMs) {
      return;
    }
    entry.gapMs = entry.dueAtMs === null ? firstGapMs : Math.min(entry.gapMs * 2, maxGapMs);
    entry.dueAtMs = forMs;
    const leftOut = this.#limit.admit(kindOf(entry.wait), nowMs);
    if (leftOut === null) {
      return;
    }
    entry.isLogged = true;
    const { what, host, place } = entry.wait;
    const error = shownFailure(entry);
    this.#parts.logger.warn(
      { what, host, place, forMs: Math.round(forMs), failures: entry.failures, ...counted(leftOut), ...entry.next, ...error },
      `${subjectOf(entry.wait)} ${entry.next === null ? "is waited for" : retryText(entry.next)}`,
    );
  }
}

/** What failed last: an attempt of this wait, or one of whoever is asked. Empty if nothing has. */
function shownFailure({ failures, cause, wait }: Entry): { readonly err?: unknown; readonly cause?: string } {
  const err = failures > 0 ? cause : wait.lastFailure?.();
  return failures === 0 && err === undefined ? {} : { err, cause: causeText(err) };
}

/** Lines about the same thing in different places: of schema 7 and schema 8 of a registry, of a handler's records. */
function kindOf({ what, host = "" }: WaitFor): string {
  return `${what.replaceAll(/\d+/g, "#")}\0${host}`;
}

function counted(leftOut: number): { readonly leftOut?: number } {
  return leftOut === 0 ? {} : { leftOut };
}

/** The sentences of a health report. Their number is limited. */
export function waitTexts(waits: readonly WaitReport[]): readonly string[] {
  const texts = waits.slice(0, maxShown).map(textOf);
  return waits.length > maxShown ? [...texts, `${waits.length - maxShown} more are waited for`] : texts;
}

function textOf(wait: WaitReport): string {
  const { since, forMs, failures, cause } = wait;
  const subject = subjectOf({
    what: wait.what,
    ...(wait.host === null ? {} : { host: wait.host }),
    ...(wait.place === null ? {} : { place: wait.place }),
  });
  const attempts = failures === 0 ? "no answer yet" : `${failures} failed ${failures === 1 ? "attempt" : "attempts"}, the last: ${cause}`;
  const state = failures === 0 && cause !== null ? `it is asked again, after: ${cause}` : attempts;
  return `${subject} is waited for since ${new Date(since).toISOString()} (${Math.round(forMs / 1_000)} s): ${state}`;
}

function retryText({ attempt, attempts, delayMs }: NextAttempt): string {
  const count = attempts === null ? String(attempt) : `${attempt} of ${attempts}`;
  return `failed and is retried: attempt ${count} failed, and the next follows after ${Math.round(delayMs)} ms`;
}

function subjectOf({ what, host, place }: WaitFor): string {
  return `${what}${host === undefined ? "" : ` (${host})`}${place === undefined ? "" : ` at ${place}`}`;
}

function idOf({ what, host = "", place = "" }: WaitFor): string {
  return `${what}\0${host}\0${place}`;
}

const noWait: OpenWait = Object.freeze({ failed: () => {}, end: () => {} });
