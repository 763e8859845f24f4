import type { Clock } from "@cdckit/consumer";
import { MemoryBrokerError } from "./memory-error.ts";
import { bindMethods } from "./bind-methods.ts";

/** What a client asks of a broker, each of which can go wrong. */
export type BrokerOperation = "connect" | "heartbeat" | "fetch" | "commit" | "send" | "transact" | "ranges";

/** Who asks for what. */
export interface BrokerRequest {
  /** What is asked for. */
  readonly operation: BrokerOperation;
  /** The group of the member that asks. */
  readonly groupId: string;
  /** Where the operation has one: a fetch. */
  readonly topic?: string;
  /** Of the topic, where the operation has one. */
  readonly partition?: number;
}

/** What a broker in memory does wrong, because a test asks for it. */
export interface BrokerFault {
  /** The operation that goes wrong. */
  readonly on: BrokerOperation;
  /**
   * - `"fails"`: nothing is done, and the client is told so; a fetch that fails ends the client
   * - `"hangs"`: nothing is done until the fault is removed; heartbeats go on meanwhile
   * - `"answer-lost"`: it is done, and the client is told that no answer came
   * - `{ lateMs }`: it is done so much later
   */
  readonly how: "fails" | "hangs" | "answer-lost" | { readonly lateMs: number };
  /**
   * How often; `Infinity` until it is removed.
   * @default 1
   */
  readonly times?: number;
  /** Only if this answers true. A fault at random is `() => scheduler.random() < 0.1`. */
  readonly where?: (request: BrokerRequest) => boolean;
  /** With `"fails"`: what the client is told. */
  readonly error?: Error;
}

/** A new operation does not compile without a name here. */
const operations: Readonly<Record<BrokerOperation, true>> = {
  connect: true,
  heartbeat: true,
  fetch: true,
  commit: true,
  send: true,
  transact: true,
  ranges: true,
};

/** A fault of a misspelt name would never come, and its test would pass all the same. */
function checkFault({ on, how }: BrokerFault): void {
  if (!Object.hasOwn(operations, on)) {
    throw new RangeError(`there is no operation ${String(on)} that can go wrong; there are ${Object.keys(operations).join(", ")}`);
  }
  const isDelay = typeof how === "object" && how !== null && how.lateMs >= 0;
  if (!isDelay && how !== "fails" && how !== "hangs" && how !== "answer-lost") {
    throw new RangeError(`expected how to be "fails", "hangs", "answer-lost" or { lateMs }, found ${JSON.stringify(how)}`);
  }
}

interface StandingFault {
  readonly fault: BrokerFault;
  left: number;
  readonly removed: Promise<void>;
  readonly remove: () => void;
}

/** The faults that a test has asked for. */
export class MemoryFaults {
  readonly #clock: Clock;
  readonly #standing = new Set<StandingFault>();
  #injured = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    bindMethods(this);
  }

  /** How many requests have met a fault, so that a test can tell that it tested anything. */
  get met(): number {
    return this.#injured;
  }

  /** Asks for a fault. The returned function takes it back, and lets go what hangs in it. */
  inject(fault: BrokerFault): () => void {
    checkFault(fault);
    let release = (): void => {};
    const removed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const standing: StandingFault = {
      fault,
      left: fault.times ?? 1,
      removed,
      remove: () => {
        this.#standing.delete(standing);
        release();
      },
    };
    this.#standing.add(standing);
    return standing.remove;
  }

  /** Takes all of them back. */
  clear(): void {
    for (const { remove } of this.#standing) {
      remove();
    }
  }

  /** Does a request in the next turn, as the faults have it. */
  async perform<T>(request: BrokerRequest, work: () => T | Promise<T>): Promise<T> {
    await this.#clock.yieldToEventLoop();
    const met = this.meet(request);
    if (met === null) {
      return work();
    }
    const isLost = await met();
    const done = await work();
    if (isLost) {
      throw new MemoryBrokerError("answer-lost", `the ${request.operation} was done, and no answer came`);
    }
    return done;
  }

  /** What the request has to go through first, or null. It resolves with whether the answer is lost. */
  meet(request: BrokerRequest): (() => Promise<boolean>) | null {
    for (const standing of this.#standing) {
      const { fault } = standing;
      if (fault.on === request.operation && standing.left > 0 && fault.where?.(request) !== false) {
        standing.left--;
        this.#injured++;
        return () => this.#suffer(standing);
      }
    }
    return null;
  }

  async #suffer({ fault, removed }: StandingFault): Promise<boolean> {
    const { on, how, error } = fault;
    if (how === "fails") {
      throw error ?? new MemoryBrokerError("fault", `the ${on} failed, as the test asked for`);
    }
    if (how === "hangs") {
      await removed;
    } else if (how !== "answer-lost") {
      await new Promise<void>((resolve) => void this.#clock.after(how.lateMs, resolve));
    }
    return how === "answer-lost";
  }
}
