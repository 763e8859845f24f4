import { type CdcEvent, createDecoder, type Decoder, type DecoderOptions, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import type { TestFramework } from "./driver.contract.ts";
import { inPlaceRecord } from "./in-place-record.ts";
import { mangled, seededRandom } from "./mangled-bytes.ts";

/** One record of a format, and what it says. The truth comes from the format's own writer, or from its specification. */
export interface FormatSample {
  /** The name of the sample, for the names of tests. */
  readonly name: string;
  /** The record as Kafka has it. */
  readonly record: KafkaRecord;
  /** How the record is decoded: the schema source, hints for its topic, formats of one's own. */
  readonly options: DecoderOptions;
  /** The names that the record's events must bear. */
  readonly framing: string;
  /** The name of the encoding of the value. */
  readonly encoding: string;
  /** The name of the envelope of the value. */
  readonly envelope: string;
  /** The record's events, each by the fields of `toObject()` that are stated. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/** The options of `testFormatContract`. */
export interface FormatContractOptions {
  /** Records of the format, and what they say. At least one. */
  readonly samples: readonly FormatSample[];
  /**
   * Changes made to each sample's bytes, beside cutting them off.
   * @default 200
   */
  readonly changes?: number;
  /**
   * Lengths at which each sample's bytes are cut off, evenly spread if the sample has more bytes.
   * @default all
   */
  readonly cuts?: number;
  /**
   * Where the changes start: the same seed, the same changes.
   * @default 1
   */
  readonly seed?: number;
  /** Tests that this format cannot pass, by name, each with its reason. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

type Trial = (sample: FormatSample, framework: TestFramework, options: FormatContractOptions) => Promise<void>;

/** What every framing, encoding and envelope must hold to, as tests: the built-in ones pass them, and one of your own can. */
export function testFormatContract(name: string, framework: TestFramework, options: FormatContractOptions): void {
  framework.describe(`the format contract: ${name}`, () => {
    for (const sample of options.samples) {
      framework.describe(sample.name, () => {
        for (const [sentence, trial] of Object.entries(trials)) {
          const exemption = options.skip?.find(({ test }) => test === sentence);
          if (exemption === undefined) {
            framework.test(sentence, () => trial(sample, framework, options));
          } else {
            framework.test.skip(`${sentence} (skipped: ${exemption.reason})`, async () => {});
          }
        }
      });
    }
  });
}

const trials: Readonly<Record<string, Trial>> = {
  "gives the events that its writer meant, under the names of its formats": async (sample, { expect }) => {
    expect(await shownBy(sample)).toEqual(meant(sample));
  },

  "says of each winning format what it was recognised by": async ({ record, options, framing, encoding, envelope }, { expect }) => {
    const { candidates, error } = await createDecoder(options).explain(record);
    expect(error).toEqual(null);
    const won = candidates.filter((one) => one.won && one.side === (record.value === null ? "key" : "value"));
    expect(won.map(({ layer, name }) => [layer, name])).toEqual([
      ["framing", framing],
      ["encoding", encoding],
      ...(record.value === null ? [] : [["envelope", envelope]]),
    ]);
    expect(won.filter(({ evidence }) => evidence === "")).toEqual([]);
  },

  "reads in place, and nothing beyond its bytes": async (sample, { expect }) => {
    const decoder = createDecoder(sample.options);
    for (const neighbours of [Buffer.alloc(16, 0x20), Buffer.alloc(16, 0x00), Buffer.from('"}],[{"a":1,"b":'), Buffer.alloc(16, 0xff)]) {
      const cursor = inPlaceRecord(sample.record, neighbours);
      const before = Buffer.from(cursor.valueBytes ?? []);
      expect(shown(await decoder.decodeAt(cursor), sample)).toEqual(meant(sample));
      expect(before.equals(cursor.valueBytes ?? Buffer.alloc(0))).toEqual(true);
    }
  },

  "gives the same the tenth time, and after records of other formats": async (sample, { expect }) => {
    const decoder = createDecoder(sample.options);
    for (let times = 0; times < 10; times++) {
      const other = foreign[times % foreign.length] ?? null;
      await outcome(() => decoder.decode({ ...sample.record, headers: [], value: other }));
      expect(shown(await decoder.decode(sample.record), sample)).toEqual(meant(sample));
    }
  },

  "an event that was detached outlives its bytes": async (sample, { expect }) => {
    const value = sample.record.value === null ? null : Buffer.from(sample.record.value);
    const key = sample.record.key === null ? null : Buffer.from(sample.record.key);
    const events = await createDecoder(sample.options).decode({ ...sample.record, key, value });
    const detached = events.map((event) => event.detach());
    value?.fill(0xaa);
    key?.fill(0xaa);
    expect(shown(detached, sample)).toEqual(meant(sample));
  },

  "cut off anywhere, it gives events or a typed error": async (sample, { expect }, { cuts = Number.POSITIVE_INFINITY }) => {
    const decoder = createDecoder(sample.options); // one, as a topic has: what broke must not change how the next is read
    const { value } = sample.record;
    const bytes = value?.length ?? 0;
    const stride = Math.max(1, bytes / cuts);
    const untyped: unknown[] = [];
    for (let length = 0; length < bytes; length += stride) {
      untyped.push(...(await untypedError(decoder, sample, value?.subarray(0, Math.floor(length)) ?? null)));
    }
    expect(untyped).toEqual([]);
    expect(shown(await decoder.decode(sample.record), sample)).toEqual(meant(sample));
  },

  "changed anywhere, it gives events or a typed error, and no prototype changes": async (
    sample,
    { expect },
    { changes = 200, seed = 1 },
  ) => {
    const random = seededRandom(seed);
    const prototypes = prototypeNames();
    const untyped: unknown[] = [];
    for (let times = 0; times < changes; times++) {
      const value = sample.record.value === null ? null : mangled(sample.record.value, random);
      untyped.push(...(await untypedError(createDecoder(sample.options), sample, value)));
    }
    expect(untyped).toEqual([]);
    expect(prototypeNames()).toEqual(prototypes);
  },
};

/** Records that a topic may hold beside those of the format. */
const foreign: readonly (Buffer | null)[] = [
  Buffer.from('{"id":1,"name":"bolt"}'),
  null,
  Buffer.from('{"schema":{"type":"int32","optional":false},"payload":1}'),
  Buffer.from([0, 0, 0, 0, 1, 2]),
  Buffer.from("not a format"),
];

async function shownBy(sample: FormatSample): Promise<unknown[]> {
  return shown(await createDecoder(sample.options).decode(sample.record), sample);
}

/** Each event by the fields that the sample states of it, and the names of its formats. */
function shown(events: readonly CdcEvent[], { events: declared }: FormatSample): unknown[] {
  return events.map((event, i) => {
    const all = event.toObject();
    const names = Object.keys(declared[i] ?? {});
    return { ...Object.fromEntries(names.map((name) => [name, all[name]])), formats: [event.framing, event.encoding, event.envelope] };
  });
}

function meant({ events, framing, encoding, envelope }: FormatSample): unknown[] {
  return events.map((event) => ({ ...event, formats: [framing, encoding, envelope] }));
}

/** What decoding these bytes threw that is no `DecodeError`, with the bytes that did it. */
async function untypedError(decoder: Decoder, { record }: FormatSample, value: Uint8Array | null): Promise<unknown[]> {
  const thrown = await outcome(async () => {
    for (const event of await decoder.decode({ ...record, value })) {
      event.toObject();
    }
  });
  return thrown === null || isDecodeError(thrown) ? [] : [[String(thrown), Buffer.from(value ?? []).toString("base64")]];
}

async function outcome(action: () => unknown): Promise<unknown> {
  try {
    await action();
    return null;
  } catch (error) {
    return error;
  }
}

function prototypeNames(): string[] {
  return [Object.prototype, Array.prototype, Function.prototype].flatMap((prototype) => Object.getOwnPropertyNames(prototype));
}
