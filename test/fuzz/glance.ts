import { performance } from "node:perf_hooks";
import process from "node:process";
import { inspect } from "node:util";
import { type CdcEvent, type Decoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import type { Finding, Verdict } from "./finding.ts";
import { unsound } from "./unsound.ts";

/** A message that takes longer than this is looked at again. It is far above what any message of the corpus may take. */
const suspectMs = 250;
const maxCpuMs = 150;

/** Looks at each message once: by a decoder that has seen all those before it, every field of every event read. */
export class Glance {
  readonly #seasoned: Decoder;
  readonly #fresh: () => Decoder;
  readonly #findings: Finding[];

  constructor(fresh: () => Decoder, findings: Finding[]) {
    this.#fresh = fresh;
    this.#seasoned = fresh();
    this.#findings = findings;
  }

  at(record: KafkaRecord, decoder: Decoder = this.#seasoned): Verdict | Promise<Verdict> {
    const start = performance.now();
    const verdict = this.#decoded(record, decoder);
    if (verdict instanceof Promise) {
      return verdict.then((settled) => this.#afterwards(record, settled, start));
    }
    return this.#afterwards(record, verdict, start);
  }

  #decoded(record: KafkaRecord, decoder: Decoder): Verdict | Promise<Verdict> {
    try {
      const events = decoder.decode(record);
      return events instanceof Promise
        ? events.then((settled) => this.#read(record, settled)).catch((error: unknown) => this.#failed(record, error))
        : this.#read(record, events);
    } catch (error) {
      return this.#failed(record, error);
    }
  }

  #read(record: KafkaRecord, events: readonly CdcEvent[]): Verdict {
    for (const event of events) {
      const { record: _, ...fields } = event.toObject();
      const found = unsound(fields);
      if (found !== null) {
        this.#findings.push({ promise: "values are plain data", detail: found, record });
      }
    }
    return decoded;
  }

  #failed(record: KafkaRecord, error: unknown): Verdict {
    if (!isDecodeError(error)) {
      this.#findings.push({ promise: "a value or a DecodeError", detail: inspect(error), record });
      return { outcome: "another error", decoded: false, code: "another error" };
    }
    return { outcome: error.code, decoded: false, code: error.code };
  }

  #afterwards(record: KafkaRecord, verdict: Verdict, start: number): Verdict {
    if (!prototypesAreWhole()) {
      const names = watched.map((prototype) => Reflect.ownKeys(prototype).map(String).join()).join("; ");
      this.#findings.push({ promise: "prototypes stay as they are", detail: names, record });
    }
    const cpuMs = performance.now() - start > suspectMs ? this.#cpuMsOf(record) : 0;
    if (cpuMs > maxCpuMs) {
      this.#findings.push({ promise: "decoding ends in time", detail: `it takes ${cpuMs} ms`, record });
    }
    return verdict;
  }

  /** Processor time, the least of two tries: the machine may do other things too. */
  #cpuMsOf(record: KafkaRecord): number {
    const once = (): number => {
      const start = process.cpuUsage();
      void this.#decoded(record, this.#fresh());
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    return Math.min(once(), once());
  }
}

const decoded: Verdict = { outcome: "decoded", decoded: true, code: null };

/** The prototypes that names from bytes could reach. */
const watched: readonly object[] = [Object.prototype, Array.prototype, Function.prototype, Map.prototype];
const whole: readonly number[] = watched.map((prototype) => Reflect.ownKeys(prototype).length);

export function prototypesAreWhole(): boolean {
  return watched.every((prototype, i) => Reflect.ownKeys(prototype).length === whole[i]);
}
