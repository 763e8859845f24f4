import type { OnReadOpts, Socket } from "node:net";
import { isKafkaJsDriverError } from "../errors.ts";
import { type FetchRequest, fetchRequestIn } from "./fetch-request.ts";
import { replaceRecords } from "./fetch-response.ts";
import { FrameSplitter } from "./frame-splitter.ts";
import type { KeptFetches } from "./kept-fetches.ts";

/**
 * Stands between a socket and kafkajs. Frames go through as they are, apart from the responses to Fetch requests: their record batches are
 * kept, and kafkajs gets one record for those of each partition.
 */
export class WireTap {
  readonly #broker: string;
  readonly #kept: KeptFetches;
  readonly #splitter: FrameSplitter = new FrameSplitter((frame) => this.#receive(frame));
  /** The requests that are not answered, by correlation id. */
  readonly #asked = new Map<number, FetchRequest>();
  #socket: Socket | undefined;

  /** `broker`: its address, as kafkajs knows it. */
  constructor(broker: string, kept: KeptFetches) {
    this.#broker = broker;
    this.#kept = kept;
  }

  /** The option of the socket. With it, the socket itself emits no data. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#splitter.target(),
    callback: (count) => this.#read(count),
  };

  attach(socket: Socket): void {
    this.#socket = socket;
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (bytes: unknown, ...others: unknown[]) => {
      if (Buffer.isBuffer(bytes)) {
        this.#sent(bytes);
      }
      return write(bytes, ...others);
    };
  }

  #sent(bytes: Buffer): void {
    const request = fetchRequestIn(bytes);
    if (request !== null) {
      this.#kept.forget(this.#broker);
      this.#asked.set(request.correlationId, request);
    }
  }

  #read(count: number): boolean {
    try {
      this.#splitter.filled(count);
      return true;
    } catch (error) {
      if (!isKafkaJsDriverError(error)) {
        throw error;
      }
      this.#socket?.destroy(error);
      return false;
    }
  }

  #receive(frame: Buffer): void {
    const correlationId = frame.length < 8 ? null : frame.readInt32BE(4);
    const request = correlationId === null ? undefined : this.#asked.get(correlationId);
    let handedOn = frame;
    if (request !== undefined) {
      this.#asked.delete(request.correlationId);
      handedOn = replaceRecords(frame, request, (fetched) => this.#kept.keep(this.#broker, fetched));
    }
    this.#socket?.emit("data", handedOn);
  }
}
