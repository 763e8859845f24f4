import type { CdcEvent } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { Target } from "../routing/router.ts";
import { channels, publish } from "./channels.ts";
import type { UserFunctions } from "../user-code/user-functions.ts";
import { pendingOf, toError } from "../user-code/user-value.ts";
import type { Telemetry } from "./telemetry.ts";

/** What a handler takes: an event, or several of one partition. */
export type Subject = CdcEvent | readonly CdcEvent[];

type Handle<Argument extends Subject> = (argument: Argument) => unknown;

/**
 * Observes handlers while they work, if somebody wants to know: a subscriber of the channel `cdckit:consumer:process`, or telemetry.
 * Without an observer, a handler costs one test more.
 */
export class HandlerObserver {
  readonly #groupId: string;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry | null;
  readonly #functions: UserFunctions;
  /** Ends the reports of the calls that have not ended. */
  readonly #open: Set<(error: unknown) => void> = new Set();

  constructor(groupId: string, clock: Clock, telemetry: Telemetry | null, functions: UserFunctions) {
    this.#groupId = groupId;
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#functions = functions;
  }

  /** The target, with a handler that is observed. */
  around(target: Target): Target {
    return target.kind === "each"
      ? { kind: "each", handle: this.#observed(target.handle) as typeof target.handle } // it returns what the handler returns
      : { kind: "batch", handle: this.#observed(target.handle) as typeof target.handle };
  }

  /** Runs what starts to consume. What its caller is doing, in the words of the telemetry, ends before what handlers will do. */
  detached<T>(start: () => T): T {
    return this.#callOnce(start, (call) => this.#telemetry?.detach(call));
  }

  /** Reports the calls that have not ended as failed: after a stop that has abandoned them, the process may end at any time. */
  abandon(error: Error): void {
    this.#open.forEach((end) => end(error));
  }

  #observed<Argument extends Subject>(handle: Handle<Argument>): Handle<Argument> {
    return (argument) =>
      this.#telemetry === null && !channels.process.hasSubscribers ? handle(argument) : this.#observe(handle, argument);
  }

  #observe<Argument extends Subject>(handle: Handle<Argument>, argument: Argument): unknown {
    const startedMs = this.#clock.nowMs();
    const subject = subjectOf(argument);
    const span = this.#lookOn(() => this.#telemetry?.begin(argument)) ?? null;
    const end = (error: unknown): void => {
      const durationMs = this.#clock.nowMs() - startedMs;
      this.#lookOn(() => span?.end(durationMs, error));
      this.#lookOn(() => this.#publish(subject, durationMs, error));
    };
    let pending: Promise<unknown> | null;
    try {
      pending = pendingOf(
        span === null
          ? handle(argument)
          : this.#callOnce(
              () => handle(argument),
              (call) => span.run(call),
            ),
      );
    } catch (error) {
      end(thrown(error));
      throw error;
    }
    if (pending === null) {
      end(null);
      return undefined;
    }
    const endOnce = (error: unknown): void => {
      if (this.#open.delete(endOnce)) {
        end(error);
      }
    };
    this.#open.add(endOnce);
    return pending.then(
      (value) => {
        endOnce(null);
        return value;
      },
      (error: unknown) => {
        endOnce(thrown(error));
        throw error;
      },
    );
  }

  /** Lets the telemetry make a call. It is made once, even if the telemetry throws before or after it, or never makes it. */
  #callOnce<T>(call: () => T, letCall: (call: () => unknown) => unknown): T {
    let outcome: Outcome<T> | null = null;
    const callOnce = (): unknown => {
      outcome ??= outcomeOf(call);
      return "value" in outcome ? outcome.value : undefined;
    };
    this.#lookOn(() => void letCall(callOnce));
    outcome ??= outcomeOf(call); // kept, so that a call that comes later does nothing
    if ("error" in outcome) {
      throw outcome.error;
    }
    return outcome.value;
  }

  #lookOn<T>(call: () => T): T | undefined {
    return this.#functions.lookOn("telemetry", call);
  }

  #publish({ first, events }: SubjectFacts, durationMs: number, error: unknown): void {
    publish("process", () => {
      const { topic = "", partition = -1, offset = -1n } = first?.record ?? {};
      return { groupId: this.#groupId, topic, partition, offset, events, durationMs, error };
    });
  }
}

/** What is said of a call, as it was when it began: a handler may take the events out of its array. */
interface SubjectFacts {
  readonly first: CdcEvent | undefined;
  readonly events: number;
}

function subjectOf(subject: Subject): SubjectFacts {
  return isMany(subject) ? { first: subject[0], events: subject.length } : { first: subject, events: 1 };
}

/** What `end` is told of it: null would say that nothing was thrown. */
function thrown(error: unknown): unknown {
  return error ?? toError(error);
}

export function isMany(subject: Subject): subject is readonly CdcEvent[] {
  return Array.isArray(subject);
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return { value: call() };
  } catch (error) {
    return { error };
  }
}
