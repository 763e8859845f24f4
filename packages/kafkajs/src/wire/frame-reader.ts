import type { OnReadOpts, Socket } from "node:net";
import { isKafkaJsDriverError, KafkaJsDriverError } from "../errors.ts";
import { FrameSplitter } from "./frame-splitter.ts";

/**
 * Reads a socket, and hands kafkajs whole frames. What cannot be read ends the connection: kafkajs throws out of its listener at a frame that is
 * too short, which would end the process.
 */
export class FrameReader {
  readonly #splitter: FrameSplitter;
  #socket: Socket | undefined;

  /** `receive`: gets each frame in the place of kafkajs. */
  constructor(receive?: (frame: Buffer) => void) {
    this.#splitter = new FrameSplitter(receive ?? ((frame) => this.handOn(frame)));
  }

  /** The option of the socket. With it, the socket itself emits no data. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#splitter.target(),
    callback: (count) => this.orDestroyed(() => this.#splitter.filled(count)),
  };

  attach(socket: Socket): void {
    this.#socket = socket;
  }

  /** kafkajs gets this frame. */
  handOn(frame: Buffer): void {
    this.#socket?.emit("data", frame);
  }

  /** Whether it could be read: here, and by kafkajs. */
  orDestroyed(read: () => void): boolean {
    try {
      read();
      return true;
    } catch (error) {
      this.#socket?.destroy(isKafkaJsDriverError(error) ? error : notAResponse(error));
      return false;
    }
  }
}

function notAResponse(cause: unknown): KafkaJsDriverError {
  return new KafkaJsDriverError(
    "protocol-mismatch",
    "expected a response to a request, found bytes that cannot be read as one. Is this a Kafka listener, and does nothing change the bytes on their way?",
    { cause },
  );
}
