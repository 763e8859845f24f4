import { LeavableIteration } from "./delivery/leavable-iteration.ts";
import type { Delivery, StreamDispatcher } from "./delivery/stream-dispatcher.ts";
import type { ConsumerEngine } from "./engine.ts";
import { onAbort } from "./run-options.ts";
import { toError } from "./user-code/user-value.ts";

export interface DeliveriesParts {
  readonly engine: Pick<ConsumerEngine, "stop" | "fail" | "aborted">;
  /** Refuses what cannot be streamed, when the first delivery is asked for. Returns the signal that stops the stream. */
  readonly check: () => AbortSignal | undefined;
  readonly makeDispatcher: () => StreamDispatcher;
  /** Resolves when the consumer has stopped. Rejects with what halted it. */
  readonly start: (dispatcher: StreamDispatcher) => Promise<void>;
  /** Resolves when the consumer has stopped and what it has made is closed. */
  readonly released: Promise<void>;
}

type Leave = (error: Error | null) => Promise<void>;

/** The deliveries of a consumer, which starts with the first `next()` and stops when the iteration is left. */
export function leavableDeliveries(parts: DeliveriesParts): AsyncGenerator<Delivery, void, void> {
  let leave: Leave = nothingToLeave;
  const items = deliveries(parts, (current) => {
    leave = current;
  });
  return new LeavableIteration(items, (error) => leave(error));
}

async function* deliveries(parts: DeliveriesParts, setLeave: (leave: Leave) => void): AsyncGenerator<Delivery, void, void> {
  const { engine, check, makeDispatcher, start, released } = parts;
  const signal = check();
  const dispatcher = makeDispatcher();
  const forgetSignal = onAbort(signal, (reason) => engine.aborted(reason));
  const stopped = signal?.aborted === true ? engine.stop() : start(dispatcher);
  setLeave((error) => {
    dispatcher.abandonUnlessDrained();
    void (error === null ? engine.stop() : engine.fail(error));
    return stopped;
  });
  if (signal?.aborted === true) {
    dispatcher.abandonUnlessDrained(); // nothing else would end it: the engine does not know it
  }
  // Awaited below. If the start failed, nobody else would end the dispatcher.
  stopped.catch(() => dispatcher.abandonUnlessDrained());
  try {
    // Not by a generator of its own: `yield*` puts promises between the moment in which an event is handed out and the reader's turn, and a
    // partition that is lost in between is handled by two members.
    for (let delivery = await dispatcher.next(); delivery !== null; delivery = await dispatcher.next()) {
      yield delivery;
    }
  } catch (error) {
    engine.fail(toError(error)); // next() rejects with errors only; throw() of the reader brings anything
  } finally {
    dispatcher.abandonUnlessDrained();
    void engine.stop();
    try {
      await stopped;
    } finally {
      forgetSignal();
      setLeave(nothingToLeave);
      await released;
    }
  }
}

/** A stream that has not started, or that has ended. */
async function nothingToLeave(_error: Error | null): Promise<void> {}
