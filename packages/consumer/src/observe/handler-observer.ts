import type { CdcEvent } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { Target } from "../routing/router.ts";
import { channels, publish } from "./channels.ts";
import type { UserFunctions } from "../user-code/user-functions.ts";
import { pendingOf, toError } from "../user-code/user-value.ts";
import type { HandlerSpan, Telemetry } from "./telemetry.ts";

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

  #observed<Argument extends Subject>(handle: Handle<Argument>): Handle<Argument> {
    return (argument) =>
      this.#telemetry === null && !channels.process.hasSubscribers ? handle(argument) : this.#observe(handle, argument);
  }

  #observe<Argument extends Subject>(handle: Handle<Argument>, argument: Argument): unknown {
    const startedMs = this.#clock.nowMs();
    const span = this.#lookOn(() => this.#telemetry?.begin(argument)) ?? null;
    const end = (error: unknown): void => {
      const durationMs = this.#clock.nowMs() - startedMs;
      this.#lookOn(() => span?.end(durationMs, error));
      this.#lookOn(() => this.#publish(argument, durationMs, error));
    };
    let pending: Promise<unknown> | null;
    try {
      pending = pendingOf(span === null ? handle(argument) : this.#runIn(span, () => handle(argument)));
    } catch (error) {
      end(thrown(error));
      throw error;
    }
    if (pending === null) {
      end(null);
      return undefined;
    }
    return pending.then(
      (value) => {
        end(null);
        return value;
      },
      (error: unknown) => {
        end(thrown(error));
        throw error;
      },
    );
  }

  /**
   * Calls the handler in the span's context. It is called once, even if the telemetry throws before or after the call, or never makes the
   * call.
   */
  #runIn(span: HandlerSpan, handle: () => unknown): unknown {
    let outcome: { readonly value: unknown } | { readonly error: unknown } | null = null;
    const handleOnce = (): unknown => {
      outcome ??= outcomeOf(handle);
      return "value" in outcome ? outcome.value : undefined;
    };
    this.#lookOn(() => void span.run(handleOnce));
    outcome ??= outcomeOf(handle); // kept, so that a call that comes later does nothing
    if ("error" in outcome) {
      throw outcome.error;
    }
    return outcome.value;
  }

  #lookOn<T>(call: () => T): T | undefined {
    return this.#functions.lookOn("telemetry", call);
  }

  #publish(subject: Subject, durationMs: number, error: unknown): void {
    publish("process", () => {
      const [first, events] = isMany(subject) ? [subject[0], subject.length] : [subject, 1];
      const { topic = "", partition = -1, offset = -1n } = first?.record ?? {};
      return { groupId: this.#groupId, topic, partition, offset, events, durationMs, error };
    });
  }
}

/** What `end` is told of it: null would say that nothing was thrown. */
function thrown(error: unknown): unknown {
  return error ?? toError(error);
}

export function isMany(subject: Subject): subject is readonly CdcEvent[] {
  return Array.isArray(subject);
}

function outcomeOf(handle: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: handle() };
  } catch (error) {
    return { error };
  }
}
