import { KafkaJsDriverError } from "../errors.ts";
import { keepFreedFrames } from "./freed-frames.ts";

/** The length that stands before each frame does not count itself. */
const lengthBytes = 4;

/** What is read before the length of a frame is known. A frame that is longer is received in its own buffer from there on. */
const stagingBytes = 64 * 1024;

/** Memory is taken at once up to this size, and for longer frames only as their bytes arrive: anybody can claim a length. */
const firstBytes = 16 * 1024 * 1024;

/** Frames of this length and more are worth the memory that is kept for the next ones. Those of compressed topics are mostly shorter. */
const longFrameBytes = 2 * 1024 * 1024;

/** A longer frame is an error. Responses are bounded by `maxBytes`, or hold one record batch that is larger: what the topic allows. */
export const maxFrameBytes: number = 512 * 1024 * 1024;

/**
 * Cuts what a socket receives into Kafka's frames. The socket writes into `target()`, so that all but the first bytes of a long frame arrive
 * where they stay: a copy would cost more than reading the records. Each frame has a buffer of its own, with the length before it.
 */
export class FrameSplitter {
  readonly #onFrame: (frame: Buffer) => void;
  readonly #staging: Buffer = Buffer.allocUnsafeSlow(stagingBytes);
  /** Bytes in the staging buffer: less than a length, whenever the socket reads. */
  #staged = 0;
  /** The frame that is being received once its length is known. It may still be shorter than the frame. */
  #frame: Buffer | null = null;
  #frameBytes = 0;
  #received = 0;
  /** A whole frame has come, so that the other side is a Kafka listener. */
  #hasSpoken = false;
  #keepsFreed = false;

  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Where the next bytes belong. Never empty. */
  target(): Uint8Array {
    return this.#frame === null ? this.#staging.subarray(this.#staged) : this.#frame.subarray(this.#received);
  }

  /** So many bytes were written into the target. Throws a `KafkaJsDriverError` at a length that no response has. */
  filled(count: number): void {
    if (this.#frame === null) {
      this.#staged += count;
      this.#cut();
    } else {
      this.#received += count;
      this.#finish(this.#frame);
    }
  }

  #cut(): void {
    let at = 0;
    while (this.#frame === null && this.#staged - at >= lengthBytes) {
      const frameBytes = lengthBytes + this.#checkedLength(this.#staging.readInt32BE(at));
      if (frameBytes >= longFrameBytes && !this.#keepsFreed) {
        this.#keepsFreed = true;
        keepFreedFrames();
      }
      const frame = Buffer.allocUnsafeSlow(Math.min(frameBytes, firstBytes));
      this.#received = this.#staging.copy(frame, 0, at, Math.min(this.#staged, at + frameBytes));
      this.#frame = frame;
      this.#frameBytes = frameBytes;
      at += this.#received;
      this.#finish(frame);
    }
    this.#staging.copyWithin(0, at, this.#staged);
    this.#staged -= at;
  }

  #finish(frame: Buffer): void {
    if (this.#received === this.#frameBytes) {
      this.#frame = null;
      this.#hasSpoken = true;
      this.#onFrame(frame);
    } else if (this.#received === frame.length) {
      const longer = Buffer.allocUnsafeSlow(Math.min(this.#frameBytes, frame.length * 2));
      frame.copy(longer);
      this.#frame = longer;
    }
  }

  #checkedLength(length: number): number {
    const maxLength = maxFrameBytes - lengthBytes;
    if (length < 0 || length > maxLength) {
      const why = this.#hasSpoken
        ? "The topic has a record batch that is larger than this driver can read (max.message.bytes), or the bytes were damaged on their way"
        : "Is this a Kafka listener, and is TLS set as the listener has it?";
      throw new KafkaJsDriverError(
        "protocol-mismatch",
        `expected the length of a response, 0 to ${maxLength} bytes, found ${length}. ${why}`,
      );
    }
    return length;
  }
}
