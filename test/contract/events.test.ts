import { inspect } from "node:util";
import {
  type CdcEvent,
  type ChangeEvent,
  createDecoder,
  isDecodeError,
  type KafkaRecord,
  type RecordCursor,
  UNAVAILABLE,
} from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, bundledRecordings, loadRecording, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { canonical } from "../fuzz/canonical.ts";
import { inPlace } from "./in-place.ts";

const recordings = bundledRecordings();

async function recordsOf(name: string): Promise<KafkaRecord[]> {
  return (await loadRecording(bundledRecording(name).file)).slice(0, 30);
}

function decoderOf(name: string): ReturnType<typeof createDecoder> {
  return createDecoder({ schemas: fromBundle(bundledRecording(name).schemasFile) });
}

describe.each(recordings.map(({ name }) => name))("events of %s", (name) => {
  test("a detached event does not change when its batch is overwritten, whatever is read late", async () => {
    const decoder = decoderOf(name);
    for (const record of await recordsOf(name)) {
      const expected = canonical(shown(await decoder.decode(record)));
      const cursor = inPlace(copyOf(record), "}}");
      const events = await decoder.decodeAt(cursor);
      for (const event of events) {
        expect(event.detach()).toBe(event);
      }
      overwrite(cursor);
      expect(canonical(shown(events))).toBe(expected);
      expect(Buffer.from(events[0]?.record.value ?? []).equals(Buffer.from(record.value ?? []))).toBe(true);
    }
  });

  test("rows, keys and operations borrow nothing from the batch", async () => {
    const decoder = decoderOf(name);
    for (const record of await recordsOf(name)) {
      const expected = canonical(rowsOf(await decoder.decode(record)));
      const cursor = inPlace(copyOf(record), "}}");
      const events = await decoder.decodeAt(cursor);
      overwrite(cursor);
      expect(canonical(rowsOf(events))).toBe(expected);
    }
  });

  test("console.log, JSON.stringify and toObject show the same plain fields", async () => {
    const decoder = decoderOf(name);
    for (const record of await recordsOf(name)) {
      for (const event of await decoder.decode(record)) {
        const plain = event.toObject();
        expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
        expect(plain["kind"]).toBe(event.kind);
        expect(inspect(event)).toBe(inspect(plain));
        const json = JSON.parse(JSON.stringify(event)) as Record<string, unknown>;
        expect(Object.keys(json)).toEqual(Object.keys(plain));
        expect(inspect(event)).not.toContain("Deferred");
      }
    }
  });
});

const source = '"source":{"connector":"postgresql","table":"t","lsn":9007199254740993,"ts_ns":1723115239782690123}';
const change = (after: string, op = "c", rest = ""): KafkaRecord =>
  changeRecord(`{"before":null,"after":${after},${source},"op":"${op}","ts_ms":5${rest}}`);

function changeRecord(value: string, topic = "t"): KafkaRecord {
  return recordOf(Buffer.from(value), { topic, offset: 7n, timestamp: 8n, key: '{"id":1}' });
}

function decodeChange(record: KafkaRecord): ChangeEvent {
  const [event] = createDecoder().decode(record) as readonly CdcEvent[];
  return event as ChangeEvent;
}

describe("a change event", () => {
  test("shows bigints as text in JSON, and UNAVAILABLE as a marker", () => {
    const json = JSON.parse(
      JSON.stringify(decodeChange(change('{"id":9007199254740993,"big":"__debezium_unavailable_value"}'))),
    ) as ChangeEvent;
    expect(json.after).toEqual({ id: "9007199254740993", big: { $unavailable: true } });
    expect(json.source.tsNs).toBe("1723115239782690123");
    expect(json.record.offset).toBe("7");
  });

  test("merges what is unavailable from the row before", () => {
    const event = decodeChange(change('{"id":1,"big":"__debezium_unavailable_value"}', "u"));
    expect(event.after?.["big"]).toBe(UNAVAILABLE);
    expect(event.applyTo({ id: 1, big: "text" })).toEqual({ id: 1, big: "text" });
    expect(event.applyTo({ id: 1 })?.["big"]).toBe(UNAVAILABLE);
    expect(event.applyTo(null)?.["big"]).toBe(UNAVAILABLE);
    expect(decodeChange(changeRecord(`{"before":{"id":1},"after":null,${source},"op":"d"}`)).applyTo({ id: 1 })).toBe(null);
  });

  test("columns called as methods are called harm nobody", () => {
    const names = ["__proto__", "constructor", "toString", "toJSON", "then", "hasOwnProperty", "valueOf", "inspect"];
    const row = `{${names.map((name) => `${JSON.stringify(name)}:{"x":1}`).join()}}`;
    const event = decodeChange(change(row));
    expect(Object.keys(event.after ?? {})).toEqual(names);
    expect(Object.getPrototypeOf(event.after)).toBe(Object.prototype);
    expect(Object.keys(event.applyTo({}) ?? {}).sort()).toEqual([...names].sort());
    expect(Object.keys((JSON.parse(JSON.stringify(event)) as ChangeEvent).after ?? {})).toEqual(names);
    expect(inspect(event)).toContain("then");
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("a transaction id of another type is no crash", () => {
    const event = decodeChange(change('{"id":1}', "c", ',"transaction":{"id":{"toString":1,"valueOf":1},"total_order":1.5}'));
    expect(event.transaction).toBe(null);
    expect(event.extra).toEqual({ transaction: { id: { toString: 1, valueOf: 1 }, total_order: 1.5 } });
  });

  test("a source block that is bad, even if nobody looks at it, is the record's error when it is decoded", () => {
    const schema = (type: string): string =>
      `{"type":"struct","fields":[{"type":"struct","optional":true,"fields":[{"type":"int32","field":"id"}],"field":"before"},` +
      `{"type":"struct","optional":true,"fields":[{"type":"int32","field":"id"}],"field":"after"},` +
      `{"type":"struct","fields":[{"type":"string","field":"connector"},{"type":"string","field":"table"},{"type":"${type}","field":"lsn"}],"field":"source"},{"type":"string","field":"op"}]}`;
    const payload = '{"before":null,"after":{"id":1},"source":{"connector":"c","table":"t","lsn":"text"},"op":"c"}';
    const error = thrownBy(() => decodeChange(changeRecord(`{"schema":${schema("int64")},"payload":${payload}}`)));
    expect(isDecodeError(error), String(error)).toBe(true);
    expect(error).toMatchObject({ code: "value-invalid" });
  });
});

function thrownBy(look: () => unknown): unknown {
  try {
    return look();
  } catch (error) {
    return error;
  }
}

function copyOf(record: KafkaRecord): KafkaRecord {
  return { ...record, key: record.key && Buffer.from(record.key), value: record.value && Buffer.from(record.value) };
}

function overwrite({ keyBytes, valueBytes, batch }: RecordCursor): void {
  for (const bytes of [keyBytes, valueBytes, batch.keyAt(0), batch.valueAt(0)]) {
    bytes?.fill(0x39);
  }
}

function shown(events: readonly CdcEvent[]): unknown {
  return events.map((event) => event.toObject());
}

function rowsOf(events: readonly CdcEvent[]): unknown {
  return events.map((event) =>
    event.kind === "change" ? [event.op, event.key, event.before, event.after, event.table] : [event.kind, event.key],
  );
}
