import type { CdcEvent } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { Target } from "../routing/router.ts";
import { channels, publish } from "./channels.ts";
import type { Telemetry } from "./telemetry.ts";

/** What a handler takes: an event, or several of one partition. */
export type Subject = CdcEvent | readonly CdcEvent[];

type Handle<Argument extends Subject> = (argument: Argument) => unknown;

/**
 * Looks at handlers while they work, where somebody wants to know: a subscriber of the channel `cdckit:consumer:process`, or telemetry. A
 * handler that nobody looks at costs one test.
 */
export class HandlerObserver {
  readonly #groupId: string;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry | null;

  constructor(groupId: string, clock: Clock, telemetry: Telemetry | null) {
    this.#groupId = groupId;
    this.#clock = clock;
    this.#telemetry = telemetry;
  }

  /** The target, its handler looked at. */
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
    const span = this.#telemetry?.begin(argument) ?? null;
    const end = (error: unknown): void => {
      const durationMs = this.#clock.nowMs() - startedMs;
      span?.end(durationMs, error);
      this.#publish(argument, durationMs, error);
    };
    let result: unknown;
    try {
      result = span === null ? handle(argument) : span.run(() => handle(argument));
    } catch (error) {
      end(error);
      throw error;
    }
    if (!isPromise(result)) {
      end(null);
      return result;
    }
    return result.then(
      (value) => {
        end(null);
        return value;
      },
      (error: unknown) => {
        end(error);
        throw error;
      },
    );
  }

  #publish(subject: Subject, durationMs: number, error: unknown): void {
    publish("process", () => {
      const [first, events] = isMany(subject) ? [subject[0], subject.length] : [subject, 1];
      const { topic = "", partition = -1, offset = -1n } = first?.record ?? {};
      return { groupId: this.#groupId, topic, partition, offset, events, durationMs, error };
    });
  }
}

export function isMany(subject: Subject): subject is readonly CdcEvent[] {
  return Array.isArray(subject);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
