import process from "node:process";
import {
  createDecoder,
  type CdcEvent,
  type Decoder,
  DecodeError,
  type DecoderOptions,
  isDecodeError,
  type KafkaRecord,
} from "@cdckit/decode";

/** A decoder that is wrong in one way, and the promise that it breaks. */
export interface PlantedBug {
  readonly name: string;
  readonly breaks: string;
  /** Whose messages show it soonest. */
  readonly encoding?: string;
  /** Seen at a glance: no message needs to be held to every promise. */
  readonly isPlain?: boolean;
  readonly decoderFor: (options: DecoderOptions) => Decoder;
}

type Events = readonly CdcEvent[];
type Decode = (record: KafkaRecord) => Events | Promise<Events>;

/** What decoders have got wrong, here or elsewhere. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "ignores trailing bytes",
    breaks: "the whole buffer is consumed",
    encoding: "json",
    decoderFor: (options) =>
      catching(options, "trailing-bytes", (record, decoder) => decoder.decode({ ...record, value: record.value?.subarray(0, -1) ?? null })),
  },
  {
    name: "looks a byte beyond the end",
    breaks: "bytes in place decode as bytes alone",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return { ...withDecode(decoder), decodeAt: (cursor) => decoder.decodeAt({ ...cursor, valueEnd: cursor.valueEnd + 1 }) };
    },
  },
  {
    name: "begins a byte too early where bytes stand in a batch",
    breaks: "bytes in place decode as bytes alone",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return {
        ...withDecode(decoder),
        decodeAt: (cursor) => decoder.decodeAt({ ...cursor, valueStart: Math.max(0, cursor.valueStart - 1) }),
      };
    },
  },
  {
    name: "lets what it saw before colour what it sees",
    breaks: "a topic's memory changes nothing",
    encoding: "json",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      let seen = 0;
      return withDecode(decoder, (record) => decoder.decode(seen++ > 3 && record.value !== null ? { ...record, value: null } : record));
    },
  },
  {
    name: "forgets the schema id in the key of its cache",
    breaks: "a topic's memory changes nothing",
    encoding: "avro",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      let id: Uint8Array | null = null;
      return withDecode(decoder, (record) => {
        if (record.value === null || record.value[0] !== 0 || record.value.length < 6) {
          return decoder.decode(record);
        }
        id ??= record.value.slice(0, 5);
        return decoder.decode({ ...record, value: Buffer.concat([id, record.value.subarray(5)]) });
      });
    },
  },
  {
    name: "takes a key for framed because one before it was",
    breaks: "a topic's memory changes nothing",
    encoding: "avro",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      let isConfirmed = false;
      return withDecode(decoder, (record) =>
        settled(decoder.decode(record), (events) => {
          if (record.key?.[0] === 0 && events[0]?.key instanceof Uint8Array && isConfirmed) {
            throw new DecodeError("schema-not-found", "expected a schema, found none");
          }
          isConfirmed ||= record.key?.[0] === 0 && events[0]?.framing === "confluent";
          return events;
        }),
      );
    },
  },
  {
    name: "leaves columns of the row before in a row",
    breaks: "a topic's memory changes nothing",
    encoding: "json",
    decoderFor: (options) => {
      let before: object = {};
      return retelling(options, (fields) => {
        const row = fields["row"] ?? fields["after"];
        const reported = row === undefined || row === null ? fields : { ...fields, row: { ...before, ...row } };
        before = row ?? {};
        return reported;
      });
    },
  },
  {
    name: "throws what is no DecodeError where bytes end early",
    breaks: "a value or a DecodeError",
    isPlain: true,
    decoderFor: (options) => catching(options, "truncated", () => raise(new RangeError("index out of range"))),
  },
  {
    name: "throws a text",
    breaks: "a value or a DecodeError",
    isPlain: true,
    decoderFor: (options) => catching(options, "malformed", () => raise("malformed" as unknown as Error)),
  },
  {
    name: "swallows bytes that are no UTF-8",
    breaks: "what others read right is read alike",
    encoding: "json",
    decoderFor: (options) =>
      catching(options, "invalid-utf8", (record, decoder) =>
        decoder.decode({ ...record, value: Buffer.from(Buffer.from(record.value ?? []).toString("utf8")) }),
      ),
  },
  {
    name: "rounds integers beyond 2^53",
    breaks: "what others read right is read alike",
    encoding: "json",
    decoderFor: (options) => retelling(options, (fields) => mapped(fields, (value) => (typeof value === "bigint" ? Number(value) : value))),
  },
  {
    name: "cuts fractions off",
    breaks: "what others read right is read alike",
    encoding: "json",
    decoderFor: (options) =>
      retelling(options, (fields) => mapped(fields, (value) => (typeof value === "number" ? Math.trunc(value) : value))),
  },
  {
    name: "drops the last item of a list",
    breaks: "what others read right is read alike",
    encoding: "json",
    decoderFor: (options) =>
      retelling(options, (fields) => mapped(fields, (value) => (Array.isArray(value) && value.length > 1 ? value.slice(0, -1) : value))),
  },
  {
    name: "drops a column called __proto__",
    breaks: "what others read right is read alike",
    encoding: "json",
    decoderFor: (options) => retelling(options, withoutPrototypeColumns),
  },
  {
    name: "makes __proto__ the prototype of a row",
    breaks: "values are plain data",
    encoding: "json",
    isPlain: true,
    decoderFor: (options) => retelling(options, assigned),
  },
  {
    name: "makes undefined of null",
    breaks: "values are plain data",
    isPlain: true,
    decoderFor: (options) => retelling(options, (fields) => mapped(fields, (value) => value ?? undefined)),
  },
  {
    name: "pollutes a prototype",
    breaks: "prototypes stay as they are",
    isPlain: true,
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return withDecode(decoder, (record) => {
        Object.defineProperty(Object.prototype, "polluted", { value: 1, configurable: true });
        return decoder.decode(record);
      });
    },
  },
  {
    name: "hands out the bytes of the batch",
    breaks: "a value outlives its batch",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return {
        ...withDecode(decoder),
        decodeAt: (cursor) =>
          settled(decoder.decodeAt(cursor), (events) =>
            events.map((event) =>
              retold(event, (fields) => ({ ...fields, bytes: cursor.valueBytes?.subarray(cursor.valueStart) ?? null })),
            ),
          ),
      };
    },
  },
  {
    name: "writes to the bytes that it reads",
    breaks: "a record's bytes stay as they are",
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return {
        ...withDecode(decoder),
        decodeAt: (cursor) => {
          cursor.valueBytes?.fill(0x20, cursor.valueEnd);
          return decoder.decodeAt(cursor);
        },
      };
    },
  },
  {
    name: "says otherwise on the fast path",
    breaks: "the fast path and the slow path give the same",
    encoding: "json",
    decoderFor: (options) => {
      const exact = createDecoder(options);
      const other = createDecoder({ ...options, values: { int64: "string" } });
      return withDecode(exact, (record) => (record.value?.[0] === 0x7b ? other : exact).decode(record));
    },
  },
  {
    name: "takes a second for some messages",
    breaks: "decoding ends in time",
    encoding: "json",
    isPlain: true,
    decoderFor: (options) => {
      const decoder = createDecoder(options);
      return withDecode(decoder, (record) => {
        const isSlow = record.value?.at(-2) === 0x7d && record.value.length % 5 === 0;
        // Of processor time, as it is judged: a busy machine gives little of it.
        for (const start = process.cpuUsage(); isSlow && process.cpuUsage(start).user < 300_000; ) {}
        return decoder.decode(record);
      });
    },
  },
];

function withDecode(decoder: Decoder, decode: Decode = (record) => decoder.decode(record)): Decoder {
  return { decode, decodeAt: (cursor) => decoder.decodeAt(cursor), explain: (record) => decoder.explain(record) };
}

/** A decoder that does something else where the true one ends in this error. */
function catching(
  options: DecoderOptions,
  code: string,
  replacement: (record: KafkaRecord, decoder: Decoder) => ReturnType<Decode>,
): Decoder {
  const decoder = createDecoder(options);
  return withDecode(decoder, (record) => {
    try {
      return decoder.decode(record);
    } catch (error) {
      return isDecodeError(error) && error.code === code && record.value !== null ? replacement(record, decoder) : raise(error);
    }
  });
}

type Fields = Record<string, unknown>;

/** A decoder whose events say something else. */
function retelling(options: DecoderOptions, tell: (fields: Fields) => Fields): Decoder {
  const decoder = createDecoder(options);
  return withDecode(decoder, (record) => settled(decoder.decode(record), (events) => events.map((event) => retold(event, tell))));
}

function settled(events: ReturnType<Decode>, then: (events: Events) => Events): ReturnType<Decode> {
  return events instanceof Promise ? events.then(then) : then(events);
}

function retold(event: CdcEvent, tell: (fields: Fields) => Fields): CdcEvent {
  const fields = (): Fields => {
    const { record, ...rest } = event.toObject();
    return { ...tell(rest), record };
  };
  return { toObject: fields } as unknown as CdcEvent;
}

function mapped(fields: Fields, map: (value: unknown) => unknown): Fields {
  const deeply = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return map(value.map(deeply));
    }
    return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
      ? entriesMapped(value as Fields, deeply)
      : map(value);
  };
  return deeply(fields) as Fields;
}

function entriesMapped(value: Fields, map: (value: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(item)]));
}

function withoutPrototypeColumns(fields: Fields): Fields {
  return JSON.parse(
    JSON.stringify(fields, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
    (name, value: unknown) => (name === "__proto__" ? undefined : value),
  ) as Fields;
}

/** What `merge` functions do. */
function assigned(value: Fields): Fields {
  const made: Fields = {};
  for (const name of Object.keys(value)) {
    const item = value[name];
    made[name] =
      typeof item === "object" && item !== null && Object.getPrototypeOf(item) === Object.prototype ? assigned(item as Fields) : item;
  }
  return made;
}

function raise(error: unknown): never {
  throw error;
}
