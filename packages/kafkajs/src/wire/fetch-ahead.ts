import { asksForTheSame, type FetchRequest, fetchRequestIn, type NextOffsets, requestAfter } from "./fetch-request.ts";

/** A response that nobody asks for is let go after this time: partitions may be paused for hours. */
const keepMs = 5_000;

/** After a response for nothing, so many chances are left out before the next attempt; twice as many after each further one. */
const firstRest = 1;
const longestRest = 64;

/** A request that was sent ahead. */
interface Sent {
  readonly request: FetchRequest;
  /** kafkajs' request for the same; null while it has not asked. */
  asked: FetchRequest | null;
  /** The response, once it is there. */
  frame: Buffer | null;
}

export interface FetchAheadParts {
  /** Sends a request to the broker. */
  readonly send: (request: FetchRequest) => unknown;
  /** A response is there that kafkajs has asked for. */
  readonly answer: (frame: Buffer, asked: FetchRequest) => unknown;
}

/**
 * Sends the next Fetch request of a connection before kafkajs does, so that the broker answers it while records are decoded and handled.
 * kafkajs asks only when it is done with the last response. If it asks for the same then, it gets the response that was fetched ahead, and
 * if not, its request is sent as it is: what is fetched ahead is never more than an answer that came sooner. One response is fetched ahead at
 * a time, and it is bounded as kafkajs' own are: by `maxBytes`.
 */
export class FetchAhead {
  readonly #parts: FetchAheadParts;
  #sent: Sent | null = null;
  /** Wasted requests whose responses are still to come, by correlation id. A broker answers in order, so they do not pile up. */
  readonly #unwanted = new Set<number>();
  /** kafkajs counts from 0 upwards. */
  #lastId = 0;
  #rest = 0;
  #nextRest = firstRest;
  #expiry: NodeJS.Timeout | undefined;

  constructor(parts: FetchAheadParts) {
    this.#parts = parts;
  }

  /** kafkajs asks for this. True if it gets what is fetched ahead; false if the request has to be sent. */
  asked(request: FetchRequest): boolean {
    const sent = this.#sent;
    if (sent === null || sent.asked !== null) {
      return false; // a second request before the first is answered is none of kafkajs' loop
    }
    if (!asksForTheSame(sent.request, request)) {
      this.#waste(sent);
      return false;
    }
    this.#nextRest = firstRest;
    sent.asked = request;
    if (sent.frame !== null) {
      clearTimeout(this.#expiry);
      // Not at once: kafkajs is still writing, and the event loop has to get round to sockets and timers between two responses.
      setImmediate(() => this.#answer(sent));
    }
    return true;
  }

  /** kafkajs gets a response to this request now, and there is more after it. */
  answered(request: FetchRequest, next: NextOffsets): void {
    if (this.#sent !== null || this.#unwanted.size > 0) {
      return;
    }
    if (this.#rest > 0) {
      this.#rest--;
      return;
    }
    this.#lastId = this.#lastId <= -0x8000_0000 ? -1 : this.#lastId - 1;
    const ahead = fetchRequestIn(requestAfter(request, next, this.#lastId));
    if (ahead !== null) {
      this.#sent = { request: ahead, asked: null, frame: null };
      this.#parts.send(ahead);
    }
  }

  /** kafkajs waits for the broker no longer. Returns what it has asked for, or null if it waits for nothing here. */
  end(): FetchRequest | null {
    const sent = this.#sent;
    if (sent === null || sent.frame !== null) {
      return null; // a response that is here is handed on, or let go
    }
    this.#waste(sent);
    return sent.asked;
  }

  /** Whether the response is to a request that was sent ahead. If so, it is seen to here. */
  takes(correlationId: number, frame: Buffer): boolean {
    if (this.#unwanted.delete(correlationId)) {
      return true;
    }
    const sent = this.#sent;
    if (sent === null || sent.request.correlationId !== correlationId) {
      return false;
    }
    if (sent.frame !== null) {
      return true; // a second response to one request
    }
    sent.frame = frame;
    if (sent.asked === null) {
      this.#expiry = setTimeout(() => this.#waste(sent), keepMs).unref();
    } else {
      this.#answer(sent);
    }
    return true;
  }

  #answer({ asked, frame }: Sent): void {
    this.#sent = null;
    if (asked !== null && frame !== null) {
      frame.writeInt32BE(asked.correlationId, 4);
      this.#parts.answer(frame, asked);
    }
  }

  #waste(sent: Sent): void {
    clearTimeout(this.#expiry);
    this.#sent = null;
    if (sent.frame === null) {
      this.#unwanted.add(sent.request.correlationId);
    }
    this.#rest = this.#nextRest;
    this.#nextRest = Math.min(longestRest, this.#nextRest * 2);
  }
}
