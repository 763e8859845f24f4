/** What carries bytes away and brings them back. */
export interface Transport {
  /**
   * Sends payloads in their order, and gives what was delivered for each of them. `onSent` is called when the other side has acknowledged
   * all of them; the promise resolves after that, when all were delivered.
   */
  exchange(payloads: readonly Uint8Array[], onSent: () => void): Promise<readonly Uint8Array[]>;
  close(): Promise<void>;
}

/** Where a round trip goes. */
export type Via = "kafka" | "redis" | "redis-streams";

export const vias: readonly Via[] = ["kafka", "redis", "redis-streams"];

/** Deliveries that are waited for, by the number that was sent with each. */
export class PendingDeliveries {
  readonly #waiting = new Map<string, { readonly resolve: (bytes: Uint8Array) => void; readonly reject: (error: Error) => void }>();
  #next = 0;
  #error: Error | undefined;

  /** A number that no other delivery of this transport has. */
  number(): string {
    return String(this.#next++);
  }

  wait(number: string): Promise<Uint8Array> {
    if (this.#error !== undefined) {
      return Promise.reject(this.#error);
    }
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
  }

  /** What nobody waits for is not ours, or came twice: it is left alone. */
  deliver(number: string, bytes: Uint8Array): void {
    this.#waiting.get(number)?.resolve(bytes);
    this.#waiting.delete(number);
  }

  /** Nothing comes any more. */
  fail(error: Error): void {
    this.#error = error;
    for (const { reject } of this.#waiting.values()) {
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** The same bytes as the class that clients take; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
