import type { OnReadOpts, Socket } from "node:net";
import { BrokerRecords } from "./broker-records.ts";
import { FetchAhead } from "./fetch-ahead.ts";
import { emptyResponseTo, type FetchRequest, fetchRequestIn } from "./fetch-request.ts";
import { FrameReader } from "./frame-reader.ts";
import type { KeptFetches } from "./kept-fetches.ts";

/** Where the body of a response begins in its frame: after the length and the correlation id. */
const bodyAt = 4 + 4;

/**
 * Stands between a socket and kafkajs. Frames go through as they are, apart from the responses to Fetch requests: their record batches are
 * kept, and kafkajs gets one record for those of each partition. The next Fetch request is sent ahead of kafkajs.
 */
export class WireTap {
  readonly #records: BrokerRecords;
  readonly #frames: FrameReader = new FrameReader((frame) => this.#receive(frame));
  /** The requests that are not answered, by correlation id. */
  readonly #asked = new Map<number, FetchRequest>();
  /** Requests that were answered here. The responses to them are left out, by correlation id. */
  readonly #ended = new Set<number>();
  #socket: Socket | undefined;
  #ahead: FetchAhead | undefined;

  /** `broker`: its address, as kafkajs knows it. */
  constructor(broker: string, kept: KeptFetches) {
    this.#records = new BrokerRecords(broker, kept);
  }

  /** The option of the socket. With it, the socket itself emits no data. */
  get onread(): OnReadOpts {
    return this.#frames.onread;
  }

  attach(socket: Socket): void {
    this.#socket = socket;
    this.#frames.attach(socket);
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    this.#ahead = new FetchAhead({
      send: (request) => {
        this.#records.askForBytes(request);
        return socket.writable && write(request.bytes); // kafkajs may have ended the connection
      },
      answer: (frame, asked) => this.#frames.orDestroyed(() => this.#handOn(frame, asked)),
    });
    socket.write = (bytes: unknown, ...others: unknown[]) => (Buffer.isBuffer(bytes) && this.#isAnswered(bytes)) || write(bytes, ...others);
  }

  /**
   * Answers the Fetch requests under way with nothing. A broker without new records answers only after `maxWaitMs`, and kafkajs waits for
   * that answer before it leaves its group.
   */
  endFetches(): void {
    const ahead = this.#ahead?.end() ?? null;
    const asked = [...this.#asked.values(), ...(ahead === null ? [] : [ahead])];
    this.#asked.clear();
    for (const request of asked) {
      if (request !== ahead) {
        this.#ended.add(request.correlationId);
      }
      this.#frames.handOn(emptyResponseTo(request));
    }
  }

  /** kafkajs writes this. True if it needs no sending, because its answer is fetched ahead. */
  #isAnswered(bytes: Buffer): boolean {
    const request = fetchRequestIn(bytes);
    if (request === null) {
      return false;
    }
    this.#records.forget();
    // A connection that has ended answers nothing. If the request is written, kafkajs hears of that.
    if (this.#socket?.writable === true && this.#ahead?.asked(request) === true) {
      return true;
    }
    this.#records.askForBytes(request);
    this.#asked.set(request.correlationId, request);
    return false;
  }

  #receive(frame: Buffer): void {
    const correlationId = frame.length < 8 ? null : frame.readInt32BE(4);
    const request = correlationId === null ? undefined : this.#asked.get(correlationId);
    if (request !== undefined) {
      this.#asked.delete(request.correlationId);
      this.#handOn(frame, request);
    } else if (correlationId === null || !(this.#ended.delete(correlationId) || this.#ahead?.takes(correlationId, frame))) {
      this.#frames.handOn(frame);
    }
  }

  /** Hands on the response to a Fetch request of kafkajs. */
  #handOn(frame: Buffer, request: FetchRequest): void {
    const { response, hasMore, fetched } = this.#records.take(frame, bodyAt, request);
    response.writeInt32BE(response.length - 4, 0);
    if (hasMore) {
      this.#ahead?.answered(request, fetched); // before the records are handled
    }
    this.#frames.handOn(response);
  }
}
