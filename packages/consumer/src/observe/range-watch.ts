import type { Clock } from "../clock.ts";
import type { DriverSession, LogRange } from "../driver.ts";
import { type Suspicion, Watchdog, type WatchedPartition } from "./watchdog.ts";

export interface RangeWatchParts {
  readonly clock: Clock;
  /** How often the brokers are asked where the logs end. */
  readonly intervalMs: number;
  readonly stuckAfterMs: number;
  readonly partitions: () => readonly WatchedPartition[];
  /** Called with every answer. */
  readonly onRanges: (ranges: readonly LogRange[]) => void;
  /**
   * Called with the suspicions that have arisen, and again after each `stuckAfterMs` that they last: what was tried may not have helped. Those of
   * one look come together: a client that does not fetch fetches none of its partitions.
   */
  readonly onSuspicions: (suspicions: readonly Suspicion[]) => void;
}

/** Asks the brokers at an interval where the logs end, and checks whether the consumer comes nearer. */
export class RangeWatch {
  readonly #parts: RangeWatchParts;
  readonly #watchdog: Watchdog;
  #session: DriverSession | null = null;
  #cancel: () => void = () => {};
  #isAsking = false;
  #suspicions: readonly Suspicion[] = [];
  /** When each suspicion that lasts was last reported. */
  #reportedAtMs: ReadonlyMap<string, number> = new Map();

  constructor(parts: RangeWatchParts) {
    this.#parts = parts;
    this.#watchdog = new Watchdog(parts.stuckAfterMs, parts.intervalMs);
  }

  /** What the last look found. */
  get suspicions(): readonly Suspicion[] {
    return this.#suspicions;
  }

  /** If the driver cannot ask, there is nothing to compare with. Its documentation says so. */
  start(session: DriverSession): void {
    if (session.ranges !== undefined) {
      this.#session = session;
      this.#ask();
      this.#wait();
    }
  }

  stop(): void {
    this.#session = null;
    this.#cancel();
    this.#suspicions = [];
    this.#reportedAtMs = new Map();
  }

  #wait(): void {
    this.#cancel = this.#parts.clock.after(this.#parts.intervalMs, () => {
      this.#ask();
      this.#wait();
    });
  }

  /**
   * One question at a time: if a connection swallows them, they would pile up. The answer is compared with what was handled when the
   * question was sent. What is handled in the meantime may well be above the end that the answer names.
   */
  #ask(): void {
    const partitions = this.#parts.partitions();
    if (this.#isAsking) {
      this.#look(partitions, null);
      return;
    }
    const session = this.#session;
    const asked = session?.ranges?.(partitions.map(({ assignment }) => assignment));
    if (asked === undefined) {
      return;
    }
    this.#isAsking = true;
    const answered = (ranges: readonly LogRange[] | null): void => {
      this.#isAsking = false;
      if (this.#session === session) {
        this.#look(partitions, ranges);
      }
    };
    asked.then(answered, () => answered(null));
  }

  #look(partitions: readonly WatchedPartition[], ranges: readonly LogRange[] | null): void {
    const { clock, onRanges } = this.#parts;
    if (ranges !== null) {
      onRanges(ranges);
    }
    const nowMs = clock.nowMs();
    this.#suspicions = this.#watchdog.look(nowMs, partitions, ranges);
    this.#tell(nowMs);
  }

  #tell(nowMs: number): void {
    const { stuckAfterMs, onSuspicions } = this.#parts;
    const before = this.#reportedAtMs;
    const due = this.#suspicions.filter((suspicion) => nowMs - (before.get(nameOf(suspicion)) ?? -Infinity) >= stuckAfterMs);
    const dueNames = new Set(due.map(nameOf));
    this.#reportedAtMs = new Map(
      this.#suspicions.map((suspicion) => {
        const name = nameOf(suspicion);
        return [name, dueNames.has(name) ? nowMs : (before.get(name) ?? nowMs)];
      }),
    );
    if (due.length > 0) {
      onSuspicions(due);
    }
  }
}

function nameOf(suspicion: Suspicion): string {
  const { kind, assignment } = suspicion;
  return assignment === null ? kind : `${kind} ${assignment.topic} ${assignment.partition}`;
}
