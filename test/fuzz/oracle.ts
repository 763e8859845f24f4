import process from "node:process";
import { inspect } from "node:util";
import { type CdcEvent, type Decoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { inPlace } from "../contract/in-place.ts";
import { canonical } from "./canonical.ts";

/** What a decoder promises and did not keep, with the bytes that show it. */
export interface Finding {
  readonly promise: string;
  readonly detail: string;
  readonly record: KafkaRecord;
}

/** How decoding ended. */
export interface Verdict {
  /** The events, all their fields read, as one text; or the error's code. */
  readonly outcome: string;
  readonly decoded: boolean;
  readonly code: string | null;
}

/** Makes a decoder that knows nothing of the topic yet. */
export type DecoderFactory = () => Decoder;

/** Bytes that continue what stands before them, for every format. */
const neighbours: readonly string[] = ['}],":"}}}]0', "\0\0\0\0\x02\x02", "9999}", "\xff\xff\xff\xff\x0f"];

/** Holds decoders to their promises, one record at a time. */
export class Oracle {
  readonly findings: Finding[] = [];
  readonly #fresh: DecoderFactory;
  /** Has seen every record before: what a topic's memory teaches must change nothing. */
  readonly #seasoned: Decoder;

  constructor(fresh: DecoderFactory, seasoned: Decoder = fresh()) {
    this.#fresh = fresh;
    this.#seasoned = seasoned;
  }

  async judge(record: KafkaRecord): Promise<Verdict> {
    const prototypeBefore = Reflect.ownKeys(Object.prototype).length;
    const alone = await this.#outcomeOf(record, () => this.#fresh().decode(record));
    this.#expectSame("a topic's memory changes nothing", record, alone, await this.#outcomeOf(record, () => this.#seasoned.decode(record)));
    await this.#judgeInPlace(record, alone);
    await this.#judgeSpelling(record, alone);
    if (alone.decoded) {
      await this.#judgeExtent(record);
    }
    if (Reflect.ownKeys(Object.prototype).length !== prototypeBefore) {
      this.#report("prototypes stay as they are", record, `Object.prototype has ${Reflect.ownKeys(Object.prototype).join()}`);
    }
    return alone;
  }

  async #judgeInPlace(record: KafkaRecord, alone: Verdict): Promise<void> {
    for (const around of neighbours) {
      const there = await this.#outcomeOf(record, () => this.#fresh().decodeAt(inPlace(record, around)));
      this.#expectSame("bytes in place decode as bytes alone", record, alone, there);
    }
  }

  /** White space before JSON leads past every short way to the slow one, which must say the same. */
  async #judgeSpelling(record: KafkaRecord, alone: Verdict): Promise<void> {
    if (record.value?.[0] === 0x7b) {
      const spaced = { ...record, value: Buffer.concat([Buffer.from(" "), record.value]) };
      const slowly = await this.#outcomeOf(record, () => this.#fresh().decode(spaced));
      // Where both end in an error, each names the first that it met: the ways look at the halves of a message in another order.
      if (alone.decoded || slowly.decoded) {
        this.#expectSame("the quick way and the slow way give the same", record, alone, slowly);
      }
    }
  }

  /** A value is accepted only when it takes all the bytes. */
  async #judgeExtent(record: KafkaRecord): Promise<void> {
    const { value } = record;
    if (value === null || value.length === 0) {
      return;
    }
    const longer = { ...record, value: Buffer.concat([value, Buffer.from("x")]) };
    if ((await this.#outcomeOf(longer, () => this.#fresh().decode(longer))).decoded) {
      this.#report("the whole buffer is consumed", longer, "a byte more was accepted");
    }
    const last = value.at(-1) as number;
    if (value[0] === 0x7b && last === 0x7d) {
      const shorter = { ...record, value: value.subarray(0, -1) };
      if ((await this.#outcomeOf(shorter, () => this.#fresh().decode(shorter))).decoded) {
        this.#report("the whole buffer is consumed", shorter, "a byte less was accepted");
      }
    }
  }

  async #outcomeOf(record: KafkaRecord, decode: () => readonly CdcEvent[] | Promise<readonly CdcEvent[]>): Promise<Verdict> {
    try {
      const events = await decode();
      return { outcome: this.#everythingOf(record, events), decoded: true, code: null };
    } catch (error) {
      if (!isDecodeError(error)) {
        this.#report("a value or a DecodeError", record, inspect(error));
        return { outcome: "another error", decoded: false, code: "another error" };
      }
      return { outcome: error.code, decoded: false, code: error.code };
    }
  }

  /** Every field of every event, in each of the ways in which users look at them. A part read late may raise its DecodeError then. */
  #everythingOf(record: KafkaRecord, events: readonly CdcEvent[]): string {
    return events
      .map((event) => {
        try {
          const { record: _, ...fields } = event.toObject();
          JSON.stringify(event);
          inspect(event);
          return canonical(fields);
        } catch (error) {
          if (!isDecodeError(error)) {
            this.#report("an event can be looked at", record, inspect(error));
            return "another error";
          }
          return `late ${error.code}`;
        }
      })
      .join("\n");
  }

  #expectSame(promise: string, record: KafkaRecord, expected: Verdict, found: Verdict): void {
    if (expected.outcome !== found.outcome) {
      this.#report(promise, record, `expected ${shortened(expected.outcome)}\nfound    ${shortened(found.outcome)}`);
    }
  }

  #report(promise: string, record: KafkaRecord, detail: string): void {
    this.findings.push({ promise, detail, record });
  }
}

function shortened(text: string): string {
  return text.length > 1_500 ? `${text.slice(0, 1_500)}...` : text;
}

/** What one message cost, in processor time: the least of some tries, for a machine that does other things too. */
export function costOf(decode: () => unknown, tries: number): { readonly ms: number; readonly heapBytes: number } {
  let ms = Number.POSITIVE_INFINITY;
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    globalThis.gc?.();
    const heapBefore = process.memoryUsage().heapUsed;
    const start = process.cpuUsage();
    const kept = outcomeOrError(decode);
    const { user, system } = process.cpuUsage(start);
    ms = Math.min(ms, (user + system) / 1_000);
    heapBytes = Math.min(heapBytes, process.memoryUsage().heapUsed - heapBefore);
    void kept;
  }
  return { ms, heapBytes };
}

function outcomeOrError(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    return error;
  }
}
