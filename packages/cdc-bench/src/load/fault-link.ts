import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import type { Fault } from "./fault.ts";

/** One direction of all connections of a proxy: they share its bandwidth. */
export interface Link {
  readonly passedBytes: number;
  /** Passes on what comes from one socket to the other, until one of them closes. */
  carry(from: Socket, to: Socket): void;
  /** The clock of the faults has started. */
  began(): void;
  /** Nothing waits any more. */
  close(): void;
}

/** So much may be in transit on one connection; its sender waits until some has arrived. 80 MB a second at 50 ms. */
const maxInTransitBytes = 4 * 1024 * 1024;
/** The link takes turns between connections after so many bytes. */
const pieceBytes = 16 * 1024;
/** Longer timers are set again: Node's cannot be longer than 2^31 ms. */
const longestTimerMs = 60_000;

/** @param nowMs since the measurement began; below zero before that */
export function createLink(faults: readonly Fault[], nowMs: () => number): Link {
  return new FaultLink(faults, nowMs);
}

class FaultLink implements Link {
  readonly #faults: readonly Fault[];
  readonly #nowMs: () => number;
  readonly #carriers = new Set<Carrier>();
  /** When the link is free again, on the process' clock. */
  #freeAtMs = 0;
  passedBytes = 0;

  constructor(faults: readonly Fault[], nowMs: () => number) {
    this.#faults = faults;
    this.#nowMs = nowMs;
  }

  carry(from: Socket, to: Socket): void {
    const carrier = new Carrier(from, to, {
      arrivalMs: (byteLength) => this.#arrivalMs(byteLength),
      heldForMs: () => this.#heldForMs(),
      passed: (byteLength) => {
        this.passedBytes += byteLength;
      },
    });
    this.#carriers.add(carrier);
    from.once("close", () => {
      this.#carriers.delete(carrier);
    });
    to.once("close", () => carrier.close());
  }

  began(): void {
    for (const carrier of this.#carriers) {
      carrier.deliver();
    }
  }

  close(): void {
    for (const carrier of this.#carriers) {
      carrier.close();
    }
  }

  /** When so many bytes that are sent now arrive, on the process' clock. */
  #arrivalMs(byteLength: number): number {
    const now = performance.now();
    let delayMs = 0;
    let bitsPerSecond = Number.POSITIVE_INFINITY;
    for (const fault of this.#faults) {
      if (fault.kind === "latency" && this.#isActive(fault)) {
        delayMs += fault.delayMs;
      } else if (fault.kind === "bandwidth" && this.#isActive(fault)) {
        bitsPerSecond = Math.min(bitsPerSecond, fault.bitsPerSecond);
      }
    }
    if (bitsPerSecond === Number.POSITIVE_INFINITY) {
      return now + delayMs;
    }
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (byteLength * 8 * 1e3) / bitsPerSecond;
    return this.#freeAtMs + delayMs;
  }

  /** How long nothing passes from now on: until the end of a black hole. */
  #heldForMs(): number {
    const ends = this.#faults.filter((fault) => fault.kind === "blackhole" && this.#isActive(fault)).map(({ window }) => window.toMs);
    return ends.length === 0 ? 0 : Math.max(...ends) - this.#nowMs();
  }

  #isActive({ window }: Fault): boolean {
    const now = this.#nowMs();
    return now >= window.fromMs && now < window.toMs;
  }
}

interface CarrierParts {
  arrivalMs(byteLength: number): number;
  heldForMs(): number;
  passed(byteLength: number): void;
}

interface Piece {
  readonly bytes: Buffer;
  readonly arrivalMs: number;
}

/** One direction of one connection. */
class Carrier {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #parts: CarrierParts;
  readonly #inTransit: Piece[] = [];
  #inTransitBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  #isFull = false;
  #isClosed = false;

  constructor(from: Socket, to: Socket, parts: CarrierParts) {
    this.#from = from;
    this.#to = to;
    this.#parts = parts;
    from.on("data", (chunk: Buffer) => this.#send(chunk));
    from.once("end", () => {
      this.#hasEnded = true;
      this.deliver();
    });
    to.on("drain", () => {
      this.#isFull = false;
      this.deliver();
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#inTransit.length = 0;
  }

  #send(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const bytes = chunk.subarray(at, at + pieceBytes);
      this.#inTransit.push({ bytes, arrivalMs: this.#parts.arrivalMs(bytes.length) });
    }
    this.#inTransitBytes += chunk.length;
    if (this.#inTransitBytes > maxInTransitBytes) {
      this.#from.pause();
    }
    this.deliver();
  }

  /** Hands over what has arrived, and comes back when the next piece does. */
  deliver(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#isFull) {
      return; // "drain" comes back here
    }
    const heldMs = this.#parts.heldForMs();
    if (heldMs > 0) {
      this.#comeBack(heldMs);
      return;
    }
    let piece = this.#inTransit[0];
    while (piece !== undefined && !this.#isFull && piece.arrivalMs <= performance.now()) {
      this.#inTransit.shift();
      this.#inTransitBytes -= piece.bytes.length;
      this.#parts.passed(piece.bytes.length);
      this.#isFull = !this.#to.write(piece.bytes);
      piece = this.#inTransit[0];
    }
    if (this.#from.isPaused() && this.#inTransitBytes <= maxInTransitBytes / 2) {
      this.#from.resume();
    }
    if (piece !== undefined && !this.#isFull) {
      this.#comeBack(piece.arrivalMs - performance.now());
    } else if (piece === undefined && this.#hasEnded) {
      this.#to.end();
    }
  }

  #comeBack(afterMs: number): void {
    this.#timer = setTimeout(() => this.deliver(), Math.min(Math.max(1, Math.ceil(afterMs)), longestTimerMs));
  }
}
