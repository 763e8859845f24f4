import { inspect } from "node:util";
import { type CdcEvent, type Decoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { inPlace } from "../contract/in-place.ts";
import { canonical } from "./canonical.ts";
import type { Finding, Verdict } from "./finding.ts";
import { Glance, prototypesAreWhole } from "./glance.ts";
import type { Peer } from "./peer.ts";

/** Makes a decoder that knows nothing of the topic yet. */
export type DecoderFactory = () => Decoder;

type Events = readonly CdcEvent[] | Promise<readonly CdcEvent[]>;

/** More records than a topic must have had of a kind before it makes a fast path for them. */
const similarInARow = 70;

/** Bytes that continue what stands before them, for every format. */
const neighbours: readonly string[] = ['}],":"}}}]0', "\0\0\0\0\x02\x02", "9999}", "\xff\xff\xff\xff\x0f"];

/** Holds decoders to their promises, one record at a time. */
export class Oracle {
  readonly findings: Finding[] = [];
  readonly #fresh: DecoderFactory;
  /** Has seen every record before: what a topic's memory teaches must change nothing. */
  readonly #seasoned: Decoder;
  readonly #glance: Glance;
  readonly #peers: readonly Peer[];
  readonly #isText: boolean;

  /** `isText`: what begins with a brace is JSON, and no number of Kafka's or MessagePack's. */
  constructor(fresh: DecoderFactory, peers: readonly Peer[], isText: boolean) {
    this.#fresh = fresh;
    this.#seasoned = fresh();
    this.#glance = new Glance(fresh, this.findings);
    this.#peers = isText ? peers : [];
    this.#isText = isText;
  }

  /** One decode, by a decoder that remembers. */
  glance(record: KafkaRecord): Verdict | Promise<Verdict> {
    return this.#glance.at(record);
  }

  /** The same by a decoder that was made for it: of another schema, say. */
  async glanceWith(record: KafkaRecord, decoder: Decoder): Promise<void> {
    await this.#glance.at(record, decoder);
  }

  /** Every promise: alone, remembered, in place, spelled otherwise, longer, shorter, after the batch is gone, beside peers. */
  async judge(record: KafkaRecord): Promise<Verdict> {
    const alone = await this.#outcomeOf(record, () => this.#fresh().decode(record));
    const remembered = await this.#outcomeOf(record, () => this.#seasoned.decode(record));
    this.#expectSame("a topic's memory changes nothing", record, alone, remembered);
    if (remembered.decoded) {
      await this.#season(record, alone);
    }
    await this.#judgeInPlace(record, alone);
    // TiCDC's rows one behind the other begin with a brace, and with white space they are none of its messages.
    const isSpelled = this.#isText && record.value?.[0] === 0x7b && !isFramed(record.value) && !isOtherThanJson(alone);
    if (isSpelled) {
      await this.#judgeSpelling(record, alone);
    }
    if (this.#isText && alone.decoded) {
      await this.#judgeExtent(record);
    }
    if (alone.decoded && !alone.outcome.includes("late ")) {
      await this.#judgeBorrowing(record);
    }
    for (const peer of this.#peers) {
      const detail = peer(record);
      if (detail !== null) {
        this.#report("what others read right is read alike", record, detail);
      }
    }
    if (!prototypesAreWhole()) {
      this.#report("prototypes stay as they are", record, `Object.prototype has ${Reflect.ownKeys(Object.prototype).map(String).join()}`);
    }
    return alone;
  }

  /** Records that begin like this one take the fast path from now on, this one among them. */
  async #season(record: KafkaRecord, alone: Verdict): Promise<void> {
    for (let i = 0; i < similarInARow; i++) {
      try {
        await this.#seasoned.decode(record);
      } catch (error) {
        if (!isDecodeError(error)) {
          throw error;
        }
        this.#expectSame("a topic's memory changes nothing", record, alone, { outcome: error.code, decoded: false, code: error.code });
        return;
      }
    }
  }

  async #judgeInPlace(record: KafkaRecord, alone: Verdict): Promise<void> {
    for (const around of neighbours) {
      const there = await this.#outcomeOf(record, () => this.#fresh().decodeAt(inPlace(record, around)));
      this.#expectSame("bytes in place decode as bytes alone", record, alone, there);
    }
  }

  /** White space before JSON leads past every fast path to the slow one, which must say the same. */
  async #judgeSpelling(record: KafkaRecord, alone: Verdict): Promise<void> {
    const spaced = { ...record, value: Buffer.concat([Buffer.from(" "), record.value ?? Buffer.alloc(0)]) };
    const slowly = await this.#outcomeOf(record, () => this.#fresh().decode(spaced));
    // Where both end in an error, each names the first that it met: the ways look at the halves of a message in another order.
    if (alone.decoded || slowly.decoded) {
      this.#expectSame("the fast path and the slow path give the same", record, alone, slowly);
    }
  }

  /** JSON is accepted only when it takes all the bytes, and all its bytes are there. */
  async #judgeExtent(record: KafkaRecord): Promise<void> {
    const { value } = record;
    if (value?.[0] !== 0x7b || value.at(-1) !== 0x7d) {
      return;
    }
    const longer = { ...record, value: Buffer.concat([value, Buffer.from("x")]) };
    if ((await this.#outcomeOf(longer, () => this.#fresh().decode(longer))).decoded) {
      this.#report("the whole buffer is consumed", longer, "a byte more was accepted");
    }
    const shorter = { ...record, value: value.subarray(0, -1) };
    if ((await this.#outcomeOf(shorter, () => this.#fresh().decode(shorter))).decoded) {
      this.#report("the whole buffer is consumed", shorter, "a byte less was accepted");
    }
  }

  /** Clients reuse the buffer that they fetched into: what was read from it must not change with it. */
  async #judgeBorrowing(record: KafkaRecord): Promise<void> {
    const cursor = inPlace(record, "\0");
    const before = [cursor.keyBytes, cursor.valueBytes].map((bytes) => (bytes === null ? null : Buffer.from(bytes)));
    const objects: unknown[] = [];
    await this.#outcomeOf(record, async () => {
      const events = await this.#fresh().decodeAt(cursor);
      objects.push(...events.map((event) => ({ ...event.toObject(), record: null })));
      return events;
    });
    if ([cursor.keyBytes, cursor.valueBytes].some((bytes, i) => bytes !== null && !Buffer.from(before[i] ?? []).equals(bytes))) {
      this.#report("a record's bytes stay as they are", record, "they were written to");
    }
    const said = objects.map(canonical).join();
    cursor.keyBytes?.fill(0xff);
    cursor.valueBytes?.fill(0xff);
    if (objects.map(canonical).join() !== said) {
      this.#report("a value outlives its batch", record, "what was read changed with the buffer that it was read from");
    }
  }

  async #outcomeOf(record: KafkaRecord, decode: () => Events): Promise<Verdict> {
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

/** Headers may say that what begins with a brace is Avro. */
function isOtherThanJson({ outcome }: Verdict): boolean {
  return outcome.includes('"framing":"ticdc"') || outcome.includes('"encoding":"avro"');
}

/** Apicurio's JSON around a payload is known by how it begins, as it is written and in no other way. */
function isFramed(value: Uint8Array): boolean {
  return Buffer.from(value.subarray(0, 12)).toString("latin1") === '{"schemaId":';
}

function shortened(text: string): string {
  return text.length > 1_500 ? `${text.slice(0, 1_500)}...` : text;
}
