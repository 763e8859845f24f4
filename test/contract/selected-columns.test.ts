import {
  type CdcEvent,
  type ColumnSelector,
  createDecoder,
  type Decoder,
  type DecoderOptions,
  isDecodeError,
  type KafkaRecord,
  type RowSlot,
  type TableName,
} from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, bundledRecordings, loadRecording, recordOf } from "@cdckit/testkit";
import { assert, asyncProperty, constantFrom, integer } from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { canonical } from "../fuzz/canonical.ts";
import { decoderOptions } from "../vectors/sample.ts";
import { vectorSamples } from "../vectors/samples.ts";

/**
 * A decoder that selects columns gives what one that reads everything gives, without the columns that were not selected: in every format,
 * on every path, and whatever records came before.
 */

/** A test of the decoder's tiers reaches them here; see `packages/decode/src/tiers.ts`. */
const tiersKey = Symbol.for("@cdckit/decode/tiers");
type Tiers = { readonly generatedReaders?: boolean; readonly fastPath?: boolean };

afterEach(() => choose({}));

function choose(tiers: Tiers): void {
  (globalThis as Record<symbol, unknown>)[tiersKey] = tiers;
}

/** Records of one topic, as many as it takes to reach the fast path. */
const enough = 70;

/** Of every file that many samples are judged, others with each seed: each costs the compiling of its readers. */
const perFile = 6;

const samples = vectorSamples().filter(({ record }) => record.value !== null);
const files = [...new Set(samples.map(({ file }) => file))];

const anyTiers = constantFrom<Tiers>({}, { fastPath: false }, { generatedReaders: false });

describe.each(bundledRecordings().map(({ name }) => name))("%s", (name) => {
  test("rows have the selected columns alone, with the values of whole rows", async () => {
    const { file, schemasFile } = bundledRecording(name);
    const records = repeated((await loadRecording(file)).slice(0, 10));
    await judge(() => [{ records, options: { schemas: fromBundle(schemasFile) } }]);
  });
});

describe.each(files)("%s", (file) => {
  test("rows have the selected columns alone, with the values of whole rows", async () => {
    const ofFile = samples.filter((one) => one.file === file);
    await judge((seed) =>
      ofFile
        .filter((_, i) => (i + (seed >>> 0)) % Math.ceil(ofFile.length / perFile) === 0)
        .map((sample) => ({ records: [sample.record, sample.record], options: decoderOptions(sample) })),
    );
  });
});

test("records of many formats, tables and schemas in turn on one topic are each read as alone", async () => {
  const plain = samples.filter(
    ({ options, error, schemas }) => Object.keys(options).length === 0 && error === null && schemas.length === 0,
  );
  const names = bundledRecordings().map(({ name }) => name);
  await assert(
    asyncProperty(constantFrom(...names), integer(), integer({ min: 1, max: 97 }), async (bundle, seed, stride) => {
      const { file, schemasFile } = bundledRecording(bundle);
      const others = plain.filter((_, i) => (i + (seed >>> 0)) % Math.ceil(plain.length / 20) === 0).map(({ record }) => record);
      const mixed = [...(await loadRecording(file)).slice(0, 8), ...others];
      const records = mixed.map((_, i) => ({ ...(mixed[(i * stride) % mixed.length] as KafkaRecord), topic: "mixed.inv.all" }));
      await compare(records, { schemas: fromBundle(schemasFile) }, seed);
    }),
    { numRuns: 2 },
  );
});

test("a row that its first envelope has declined has the selected columns alone", () => {
  const value = { before: null, after: { id: 1 }, source: { name: "a column" }, op: "c", ts_ms: 1 };
  const decoder = createDecoder({ selectColumns: () => () => new Set(["op"]) });
  for (let i = 0; i < enough; i++) {
    const [event] = decoder.decode(recordOf(JSON.stringify(value), { topic: "inv.orders" })) as readonly CdcEvent[];
    expect(event?.kind === "row" && event.row).toEqual({ op: "c" });
  }
});

describe("columns do not depend on the records before", () => {
  const source = { version: "3", connector: "postgresql", name: "shop", db: "shop", schema: "public", table: "orders", ts_ms: 1 };
  const row = { id: 1, state: "b", total: 2 };
  const debezium = { before: null, after: row, source, op: "c", ts_ms: 1 };
  const maxwell = { database: "shop", table: "orders", type: "insert", ts: 1, xid: 1, commit: true, data: row };
  const cloudEvents = {
    id: "1",
    source: "/debezium/postgresql/shop",
    specversion: "1.0",
    type: "io.debezium.connector.postgresql.DataChangeEvent",
    time: "2024-01-01T00:00:00Z",
    datacontenttype: "application/json",
    iodebeziumop: "c",
    iodebeziumversion: "3",
    iodebeziumconnector: "postgresql",
    iodebeziumname: "shop",
    iodebeziumtsms: "1",
    iodebeziumsnapshot: "false",
    iodebeziumdb: "shop",
    iodebeziumschema: "public",
    iodebeziumtable: "orders",
    data: { before: null, after: row },
  };

  test.each([
    ["in turn with another envelope, whose columns are skipped in the bytes", maxwell, (i: number) => i % 3 === 2],
    ["after a converter was switched", cloudEvents, (i: number) => i >= 200],
  ])("%s", (_, other, isOther) => {
    const onlyId = new Set(["id"]);
    const decoder = createDecoder({ selectColumns: () => () => onlyId });
    for (let i = 0; i < 300; i++) {
      const value = JSON.stringify(isOther(i) ? other : debezium);
      const [event] = decoder.decode(recordOf(value, { topic: "shop.public.orders" })) as readonly CdcEvent[];
      expect(event?.kind === "change" && event.after, `record ${i}`).toEqual({ id: 1 });
    }
  });

  test("where another column, which was wanted of other operations, contradicts what the key's schema said of it", () => {
    const fields = [
      { field: "at", type: "int64", name: "io.debezium.time.MicroTimestamp", optional: false },
      { field: "code", type: "bytes", name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" }, optional: false },
    ];
    const key = JSON.stringify({
      schema: { type: "struct", name: "k", optional: false, fields },
      payload: { at: 1_000_000, code: "AZoo" },
    });
    const value = JSON.stringify({ before: null, after: { at: 1_000_000, code: "n/a!" }, source, op: "u", ts_ms: 1 });
    const both = new Set(["at", "code"]);
    const onlyTime = new Set(["at"]);
    const decoder = createDecoder({ selectColumns: () => (_, slot) => (slot === "update" ? onlyTime : both) });
    for (let i = 0; i < 3; i++) {
      const [event] = decoder.decode(recordOf(value, { key, topic: "shop.public.orders" })) as readonly CdcEvent[];
      expect(event?.kind === "change" && event.after, `record ${i}`).toEqual({ at: "1970-01-01T00:00:01" });
    }
  });
});

describe("if most records are of operations that nobody takes", () => {
  const change = (op: string, total: unknown): KafkaRecord => {
    const source = {
      version: "3.5.0.Final",
      connector: "postgresql",
      name: "shop",
      db: "shop",
      schema: "public",
      table: "orders",
      ts_ms: 1,
    };
    const image = { id: 1, total };
    return recordOf(JSON.stringify({ before: op === "c" ? null : image, after: op === "d" ? null : image, source, op, ts_ms: 1 }));
  };
  const onlyDeletes: ColumnSelector = (_, slot) => (slot === "delete" ? null : new Set());

  test("these are read without columns, and the others whole", () => {
    const decoder = createDecoder({ selectColumns: () => onlyDeletes });
    const found = Array.from({ length: 600 }, (_, i) => {
      const [event] = decoder.decode(change(i % 20 === 19 ? "d" : "u", i)) as readonly CdcEvent[];
      return event?.kind === "change" && [event.op, event.before, event.after];
    });
    expect(found).toEqual(
      Array.from({ length: 600 }, (_, i) => (i % 20 === 19 ? ["delete", { id: 1, total: i }, null] : ["update", {}, {}])),
    );
  });

  test("a broken one is an error all the same, wherever it comes", () => {
    const decoder = createDecoder({ selectColumns: () => onlyDeletes });
    const whole = Buffer.from(change("u", "text").value as Uint8Array).toString();
    for (let i = 0; i < 400; i++) {
      void decoder.decode(change("u", i));
      for (const broken of [whole.slice(0, -1), whole.replace('"text"', "tex"), whole.replace('"text"', '"\\x"')]) {
        expect(() => decoder.decode(recordOf(broken))).toThrow(/^\[(malformed|truncated|unknown-format)\]/);
      }
    }
  });
});

interface Case {
  readonly records: readonly KafkaRecord[];
  readonly options: DecoderOptions;
}

/** Decodes records with some selection, on some path: a run of all files takes each many times. */
async function judge(casesOf: (seed: number) => readonly Case[]): Promise<void> {
  await assert(
    asyncProperty(integer(), anyTiers, async (seed, tiers) => {
      choose(tiers);
      for (const { records, options } of casesOf(seed)) {
        await compare(records, options, seed);
      }
    }),
    { numRuns: 1 },
  );
}

async function compare(records: readonly KafkaRecord[], options: DecoderOptions, seed: number): Promise<void> {
  const whole = createDecoder(options);
  const decoded = await Promise.all(records.map(async (record) => eventsOf(whole, record)));
  const select = selectorOf(seed, columnNames(decoded));
  const selecting = createDecoder({ ...options, selectColumns: () => select });
  for (const [i, record] of records.entries()) {
    const wanted = decoded[i] as Decoded;
    const found = shownAll(await eventsOf(selecting, record), null);
    if (typeof wanted !== "string") {
      expect(found, `record ${i}`).toBe(shownAll(wanted, select));
    }
    // What the records before have shown never decides. Few are decoded alone: each costs the compiling of its readers.
    if (i === records.length - 1) {
      const alone = createDecoder({ ...options, selectColumns: () => select });
      expect(shownAll(await eventsOf(alone, record), null), `record ${i} alone`).toBe(found);
    }
  }
}

/** The events of a record, or the code of its error. */
type Decoded = readonly CdcEvent[] | string;

async function eventsOf(decoder: Decoder, record: KafkaRecord): Promise<Decoded> {
  try {
    return await decoder.decode(record);
  } catch (error) {
    expect(isDecodeError(error), String(error)).toBe(true);
    return `error ${(error as { readonly code: string }).code}`;
  }
}

/** A block that is read late may be broken. The event then shows its error. */
function shownAll(decoded: Decoded, select: ColumnSelector | null): string {
  if (typeof decoded === "string") {
    return decoded;
  }
  try {
    return canonical(decoded.map((event) => shown(event, select)));
  } catch (error) {
    expect(isDecodeError(error), String(error)).toBe(true);
    return `error ${(error as { readonly code: string }).code}`;
  }
}

/** Everything that an event says. If a selector is given, its rows are cut to what is selected. */
function shown(event: CdcEvent, select: ColumnSelector | null): unknown {
  const { record: _, ...fields } = event.toObject() as Record<string, unknown>;
  if (select === null || (event.kind !== "change" && event.kind !== "row")) {
    return fields;
  }
  const columns = select(event.table, event.kind === "row" ? "row" : event.op);
  const cut = (row: unknown): unknown =>
    row === null || columns === null ? row : Object.fromEntries(Object.entries(row as object).filter(([name]) => columns.has(name)));
  return event.kind === "row" ? { ...fields, row: cut(event.row) } : { ...fields, before: cut(event.before), after: cut(event.after) };
}

/** All columns, none, or some by their names: another choice for each table and operation, and the same object for the same choice. */
function selectorOf(seed: number, names: readonly string[]): ColumnSelector {
  const chosen = new Map<string, ReadonlySet<string> | null>();
  return (table: TableName | null, slot: RowSlot) => {
    const salt = hash(`${seed}${JSON.stringify(table)}${seed % 3 === 0 ? slot : ""}`);
    const key = String(salt % 5);
    if (!chosen.has(key)) {
      const some = new Set(names.filter((name) => hash(`${salt}${name}`) % 3 === 0));
      chosen.set(key, salt % 5 === 0 ? null : salt % 5 === 1 ? new Set() : some);
    }
    return chosen.get(key) ?? null;
  };
}

function columnNames(decoded: readonly Decoded[]): readonly string[] {
  const events = decoded.flatMap((one) => (typeof one === "string" ? [] : one));
  const rows = events.flatMap((event) => (event.kind === "change" ? [event.before, event.after] : event.kind === "row" ? [event.row] : []));
  return [...new Set(rows.flatMap((row) => Object.keys(row ?? {})))];
}

function hash(text: string): number {
  let sum = 7;
  for (let i = 0; i < text.length; i++) {
    sum = (Math.imul(sum, 31) + text.charCodeAt(i)) >>> 0;
  }
  return sum;
}

function repeated(records: readonly KafkaRecord[], count: number = enough): readonly KafkaRecord[] {
  return records.length === 0
    ? []
    : Array.from({ length: Math.max(count, records.length) }, (_, i) => records[i % records.length] as KafkaRecord);
}
