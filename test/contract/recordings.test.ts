import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CdcEvent,
  type ChangeEvent,
  createDecoder,
  type Decoder,
  isDecodeError,
  type KafkaRecord,
  type TopicHints,
  UNAVAILABLE,
} from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, bundledRecordings, loadRecording } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { canonical } from "../fuzz/canonical.ts";
import { inPlace } from "./in-place.ts";
import { independently } from "./independent.ts";

const recordings = bundledRecordings();

/** For each recording, what its messages are: made with JSON.parse and avsc, not with our decoder. */
const summary = JSON.parse(readFileSync(join(import.meta.dirname, "recordings.json"), "utf8")) as Record<string, Record<string, number>>;

function decoderFor(name: string): Decoder {
  return createDecoder({ schemas: fromBundle(bundledRecording(name).schemasFile) });
}

describe.each(recordings.map(({ name }) => name))("%s", (name) => {
  const { file, schemasFile } = bundledRecording(name);

  test("every message is of the kind, operation and key that JSON.parse and avsc read", async () => {
    const schemas = fromBundle(schemasFile);
    const decoder = createDecoder({ schemas });
    const counts: Record<string, number> = {};
    for (const record of await loadRecording(file)) {
      const truth = independently(record, schemas);
      const [event, ...others] = (await decoder.decode(record)) as CdcEvent[];
      expect(others).toEqual([]);
      const op = event?.kind === "change" ? event.op : null;
      expect({ kind: event?.kind, op, key: loosely(event?.key) }).toEqual({ kind: truth.kind, op: truth.op, key: loosely(truth.key) });
      if (event?.kind === "change") {
        expect(shapeOf(event.before)).toEqual(shapeOf(truth.before));
        expect(shapeOf(event.after)).toEqual(shapeOf(truth.after));
      }
      const what = truth.op ?? truth.kind;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    expect(counts).toEqual(summary[name]);
  });

  test("a message cut at any byte ends in a DecodeError, in place as alone", async () => {
    const decoder = decoderFor(name);
    const decoded: number[] = [];
    const otherwiseInPlace: number[] = [];
    for (const [i, record] of (await someOf(file)).entries()) {
      const { value } = record;
      const stride = i === 0 ? 3 : 13; // the second one is another shape of the same; the campaign cuts at every byte
      for (let length = 0; value !== null && length < value.length; length += stride) {
        const cut = { ...record, value: value.subarray(0, length) };
        const code = await codeOf(() => decoder.decode(cut));
        decoded.push(...(code === "decoded" ? [length] : []));
        if (length % 5 === 0) {
          // What was cut off stands behind it still: the worst neighbours that there are.
          const around = Buffer.from(value.subarray(length)).toString("latin1");
          const codeInPlace = await codeOf(() => decoder.decodeAt(inPlace(cut, around)));
          otherwiseInPlace.push(...(codeInPlace === code ? [] : [length]));
        }
      }
    }
    expect({ decoded, otherwiseInPlace }).toEqual({ decoded: [], otherwiseInPlace: [] });
  });

  test("a key cut at any byte is a value or a DecodeError, in place as alone", async () => {
    const decoder = decoderFor(name);
    const otherwiseInPlace: number[] = [];
    for (const record of await someOf(file)) {
      for (let length = 0; record.key !== null && length < record.key.length; length++) {
        const cut = { ...record, value: null, key: record.key.subarray(0, length) };
        const around = Buffer.from(record.key.subarray(length)).toString("latin1");
        const alone = await keyOf(() => decoder.decode(cut));
        const isSame = (await keyOf(() => decoder.decodeAt(inPlace(cut, around)))) === alone;
        otherwiseInPlace.push(...(isSame ? [] : [length]));
      }
    }
    expect(otherwiseInPlace).toEqual([]);
  });

  test("a wrong first byte ends in a DecodeError", async () => {
    const decoder = decoderFor(name);
    const decoded: number[] = [];
    for (const record of await someOf(file)) {
      for (let first = 0; first < 256 && record.value !== null; first++) {
        const changed = Buffer.from(record.value);
        const isSpace = first === 0x20 || first === 0x09 || first === 0x0a || first === 0x0d;
        if (changed[0] !== first && !isSpace) {
          changed[0] = first;
          const code = await codeOf(() => decoder.decode({ ...record, value: changed }));
          decoded.push(...(code === "decoded" ? [first] : []));
        }
      }
    }
    expect(decoded).toEqual([]);
  });
});

describe("the same changes in other formats", () => {
  const tables = ["composite_pk", "nopk", "evolve", "toast", "alltypes", "outbox", "Odd_N_me_"];

  test.each(tables)("inv.%s: JSON with schema and Avro give equal events", async (table) => {
    const [json, avro] = [await eventsOf(`tjs.inv.${table}`), await eventsOf(`tav.inv.${table}`)];
    expect(avro.length).toBe(json.length);
    for (const [i, event] of json.entries()) {
      // Avro has no names of its own for these columns: its adjusted ones stand in the same order.
      const show = table === "Odd_N_me_" ? withoutNames : (one: unknown): string => canonical(one);
      expect(show(rowsOf(avro[i]))).toBe(show(rowsOf(event)));
    }
  });

  test.each([
    ["tan", "an 8-byte id before the payload"],
    ["tah", "the id in a header"],
  ])("inv.composite_pk: %s, Apicurio's framing with %s, gives them too", async (prefix) => {
    const [apicurio, avro] = [await eventsOf(`${prefix}.inv.composite_pk`), await eventsOf("tav.inv.composite_pk")];
    expect(apicurio.map((event) => canonical(rowsOf(event)))).toEqual(avro.map((event) => canonical(rowsOf(event))));
    expect(new Set(apicurio.filter(({ kind }) => kind !== "tombstone").map(({ framing }) => framing))).toEqual(new Set(["apicurio"]));
  });

  test.each(["nopk", "toast", "evolve", "composite_pk"])(
    "inv.%s: plain JSON gives them too, where hints state what it cannot",
    async (table) => {
      const decimal = (scale: string): object => ({ name: "org.apache.kafka.connect.data.Decimal", parameters: { scale } });
      const columns = table === "evolve" ? { c: decimal("2") } : table === "composite_pk" ? { v: decimal("2") } : {};
      const topic = `tjn.inv.${table}`;
      const [typed, plain] = [await eventsOf(`tjs.inv.${table}`), await eventsOf(topic, { [topic]: { columns } as TopicHints })];
      expect(plain.map((event) => canonical(rowsOf(event)))).toEqual(typed.map((event) => canonical(rowsOf(event))));
    },
  );

  test("the unchanged TOAST column is UNAVAILABLE in all three", async () => {
    for (const prefix of ["tjs", "tjn", "tav"]) {
      const updates = (await eventsOf(`${prefix}.inv.toast`)).filter((event) => event.kind === "change" && event.op === "update");
      expect(updates.map((event) => (event as ChangeEvent).after?.["big"])).toEqual([UNAVAILABLE]);
    }
  });

  test("messages of the log carry the same prefix and content", async () => {
    const shown = await Promise.all(
      ["tjs", "tjn", "tav"].map(async (prefix) =>
        (await eventsOf(`${prefix}.message`)).map((event) =>
          event.kind === "message" ? [event.prefix, event.content.toString()] : event.kind,
        ),
      ),
    );
    // Nothing in plain JSON says that text is base64.
    expect(shown[1]).toEqual([["myprefix", Buffer.from("hello logical").toString("base64")]]);
    shown[1] = [["myprefix", "hello logical"]];
    expect(shown[1]).toEqual(shown[0]);
    expect(shown[2]).toEqual(shown[0]);
  });

  test("transactions begin and end alike", async () => {
    const shown = await Promise.all(
      ["tjs", "tjn", "tav"].map(async (prefix) =>
        (await eventsOf(`${prefix}.transaction`)).map((event) =>
          event.kind === "transaction" ? [event.status, event.eventCount, String(event.dataCollections?.length)] : event.kind,
        ),
      ),
    );
    expect(shown[1]).toEqual(shown[0]);
    expect(shown[2]).toEqual(shown[0]);
  });
});

test("all recordings mixed on one topic give what each gives alone", async () => {
  const schemas = fromBundle(bundledRecording("postgres-debezium-3.5/tav.inv.toast").schemasFile);
  const mixed: KafkaRecord[] = [];
  for (const { name, file } of recordings.filter((one) => one.name.startsWith("postgres"))) {
    mixed.push(...(await loadRecording(file)).slice(0, 4).map((record) => ({ ...record, topic: "everything" })));
    mixed.push({ ...(mixed.at(-1) as KafkaRecord), key: null, value: Buffer.from(name) });
  }
  const shared = createDecoder({ schemas });
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < mixed.length; i++) {
      const record = mixed[(i * (2 * round + 1) * 7 + round) % mixed.length] as KafkaRecord;
      const alone = await everythingOf(() => createDecoder({ schemas }).decode(record));
      expect(await everythingOf(() => shared.decode(record))).toBe(alone);
    }
  }
});

async function everythingOf(decode: () => unknown): Promise<string> {
  try {
    return canonical(((await decode()) as CdcEvent[]).map((event) => event.toObject()));
  } catch (error) {
    return isDecodeError(error) ? error.code : canonical(String(error));
  }
}

/** A few messages of a recording, no two alike in length. */
async function someOf(file: string): Promise<KafkaRecord[]> {
  const byLength = new Map<number, KafkaRecord>();
  for (const record of await loadRecording(file)) {
    byLength.set((record.value ?? []).length, record);
  }
  return [...byLength.values()].slice(0, 2);
}

async function eventsOf(topic: string, topics: Readonly<Record<string, TopicHints>> = {}): Promise<CdcEvent[]> {
  const name = `postgres-debezium-3.5/${topic}`;
  const decoder = createDecoder({ schemas: fromBundle(bundledRecording(name).schemasFile), topics });
  const events: CdcEvent[] = [];
  for (const record of await loadRecording(bundledRecording(name).file)) {
    events.push(...(await decoder.decode(record)));
  }
  return events;
}

function rowsOf(event: CdcEvent | undefined): unknown {
  return event?.kind === "change"
    ? { op: event.op, key: event.key, before: event.before, after: event.after, table: event.table }
    : { kind: event?.kind, key: event?.key };
}

function withoutNames(value: unknown): string {
  const { op, key, before, after } = value as { op?: unknown; key?: object; before?: object; after?: object };
  return canonical([op, ...[key, before, after].map((part) => (part ? Object.values(part) : null))]);
}

/** Numbers as text: which of the two kinds of number an integer becomes is not avsc's to say. */
function loosely(value: unknown): unknown {
  if (typeof value === "number" || typeof value === "bigint") {
    return String(value);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, loosely(item)]))
    : value;
}

/** Which columns there are, and which of them are null; `__proto__` aside, which avsc loses. */
function shapeOf(row: Readonly<Record<string, unknown>> | null): unknown {
  return row === null
    ? null
    : Object.fromEntries(
        Object.entries(row)
          .filter(([name]) => name !== "__proto__")
          .map(([name, value]) => [name, value === null]),
      );
}

async function codeOf(decode: () => unknown): Promise<string> {
  try {
    await decode();
    return "decoded";
  } catch (error) {
    return isDecodeError(error) ? error.code : raise(error);
  }
}

async function keyOf(decode: () => unknown): Promise<string> {
  try {
    return canonical(((await decode()) as CdcEvent[])[0]?.key);
  } catch (error) {
    return isDecodeError(error) ? error.code : raise(error);
  }
}

function raise(error: unknown): never {
  throw error;
}
