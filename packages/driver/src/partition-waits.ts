import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { HeldPartition } from "./assignments.ts";
import type { DriverError, MakeDriverError } from "./errors.ts";
import type { Place } from "./place.ts";

/** What reporting partitions that cannot be read needs of a driver. */
export interface PartitionWaitsParts {
  /** Gets the waits. */
  readonly sink: Pick<DriverSink, "waiting">;
  /** What is waited for, as the subject of a sentence: `a fetch`. */
  readonly what: string;
  /** The brokers' addresses. */
  readonly host: string;
}

interface Failing {
  readonly sinceMs: number;
  wait: OpenWait | undefined;
}

/** While a leader or a coordinator moves, a few attempts fail in each partition that is concerned. That is no news. */
export const passingMs = 1_000;

/** Reports partitions that cannot be read for now. Each is a wait until it can be read, or is given up. */
export class PartitionWaits {
  readonly #parts: PartitionWaitsParts;
  readonly #failing = new WeakMap<HeldPartition, Failing>();

  constructor(parts: PartitionWaitsParts) {
    this.#parts = parts;
  }

  /**
   * One more attempt failed, and another one follows. The wait begins if they have failed for a second, or at once if it is known that nothing comes for
   * as long: `lastsMs`.
   */
  failed(held: HeldPartition, cause: unknown, lastsMs: number = 0): void {
    if (held.isGoing || held.isOver) {
      return;
    }
    const nowMs = performance.now();
    const failing = this.#failing.get(held) ?? { sinceMs: nowMs, wait: undefined };
    this.#failing.set(held, failing);
    if (Math.max(lastsMs, nowMs - failing.sinceMs) >= passingMs) {
      failing.wait ??= this.#open(held);
      failing.wait?.failed(cause);
    }
  }

  /** An attempt succeeded. Does nothing if none has failed before it. */
  end(held: HeldPartition): void {
    const wait = this.#failing.get(held)?.wait;
    this.#failing.delete(held);
    if (wait !== undefined) {
      held.waits.delete(wait);
      wait.end();
    }
  }

  /** What the brokers say of leaders. Nothing is fetched of a partition without one, and the fetches of others succeed: nothing else reports it. */
  noteLeaders(helds: readonly HeldPartition[], isLed: (place: Place) => boolean, makeError: MakeDriverError): void {
    for (const held of helds) {
      if (isLed(held.assignment)) {
        this.end(held);
      } else {
        this.failed(held, noLeaderError(makeError, held.assignment));
      }
    }
  }

  #open(held: HeldPartition): OpenWait | undefined {
    const { sink, what, host } = this.#parts;
    const wait = sink.waiting?.({ what, host, place: placeText([held.assignment]) });
    if (wait !== undefined) {
      held.waits.add(wait);
    }
    return wait;
  }
}

/** The partitions, as health reports and messages name them: `orders[0]`, `orders[0] and 2 more`. */
export function placeText(places: readonly Place[]): string {
  const [first] = places;
  const rest = places.length - 1;
  return `${first?.topic ?? ""}[${first?.partition ?? ""}]${rest > 0 ? ` and ${rest} more` : ""}`;
}

function noLeaderError(makeError: MakeDriverError, place: Place): DriverError<string> {
  return makeError(
    "partition-unavailable",
    `no broker leads ${placeText([place])}: those that have its replicas are down, or the topic is gone`,
  );
}
