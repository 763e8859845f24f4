import type { Clock } from "../clock.ts";
import type { DriverSession, LogRange } from "../driver.ts";
import { type Suspicion, Watchdog, type WatchedPartition } from "./watchdog.ts";

export interface RangeWatchParts {
  readonly clock: Clock;
  /** How often the brokers are asked where the logs end. */
  readonly intervalMs: number;
  readonly stuckAfterMs: number;
  readonly partitions: () => readonly WatchedPartition[];
  /** Told of every answer. */
  readonly onRanges: (ranges: readonly LogRange[]) => void;
  /** Told of what was not suspected at the look before. */
  readonly onSuspicion: (suspicion: Suspicion) => void;
}

/** Asks the brokers every so often where the logs end, and looks whether the consumer comes nearer. */
export class RangeWatch {
  readonly #parts: RangeWatchParts;
  readonly #watchdog: Watchdog;
  #session: DriverSession | null = null;
  #cancel: () => void = () => {};
  #isAsking = false;
  #suspicions: readonly Suspicion[] = [];

  constructor(parts: RangeWatchParts) {
    this.#parts = parts;
    this.#watchdog = new Watchdog(parts.stuckAfterMs);
  }

  /** What the last look found. */
  get suspicions(): readonly Suspicion[] {
    return this.#suspicions;
  }

  /** Without a driver that can ask there is nothing to compare with: a capability that its page tells. */
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
  }

  #wait(): void {
    this.#cancel = this.#parts.clock.after(this.#parts.intervalMs, () => {
      this.#ask();
      this.#wait();
    });
  }

  /**
   * One question at a time: on a connection that swallows them, they would pile up. The answer is held against what was handled when it was
   * asked for: what is handled meanwhile may well be above the end that it tells.
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
    const { clock, onRanges, onSuspicion } = this.#parts;
    if (ranges !== null) {
      onRanges(ranges);
    }
    const before = new Set(this.#suspicions.map(nameOf));
    this.#suspicions = this.#watchdog.look(clock.nowMs(), partitions, ranges);
    for (const suspicion of this.#suspicions.filter((one) => !before.has(nameOf(one)))) {
      onSuspicion(suspicion);
    }
  }
}

function nameOf(suspicion: Suspicion): string {
  return suspicion.kind === "unreachable"
    ? suspicion.kind
    : `${suspicion.kind} ${suspicion.assignment.topic} ${suspicion.assignment.partition}`;
}
