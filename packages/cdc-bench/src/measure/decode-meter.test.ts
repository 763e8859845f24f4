import { type CdcEvent, DecodeError, type DecodeErrorCode, type Decoder, type RecordCursor } from "@cdckit/decode";
import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { meterDecoder } from "./decode-meter.ts";

/** A record of topic `t` with a value of so many bytes, and no key; null is a tombstone. */
function cursorOf(valueBytes: number | null, topic = "t"): RecordCursor {
  const value = valueBytes === null ? null : Buffer.alloc(valueBytes);
  const record = recordOf(value, { topic });
  const walk = new RecordArrayBatch({ assignment: { topic, partition: 0, epoch: 0 }, records: [record] }).walk();
  walk.next();
  return walk;
}

function decoderThat(decodeAt: Decoder["decodeAt"]): Decoder {
  return { decodeAt, decode: () => [], explain: async () => ({ candidates: [], error: null }) };
}

const jsonRow = { kind: "row", key: null, row: {}, framing: "none", encoding: "json", envelope: "none" } as unknown as CdcEvent;
const avroChange = { kind: "change", key: null, framing: "confluent", encoding: "avro", envelope: "debezium" } as unknown as CdcEvent;

function failing(code: DecodeErrorCode): Decoder {
  return decoderThat(() => {
    throw new DecodeError(code, "as a test wants it");
  });
}

describe("a metered decoder", () => {
  test("hands on what the decoder gives, and counts it by topic and format", () => {
    const meter = meterDecoder(decoderThat(({ valueEnd }) => [valueEnd > 50 ? jsonRow : avroChange]));
    expect(meter.decoder.decodeAt(cursorOf(100))).toEqual([jsonRow]);
    expect(meter.decoder.decodeAt(cursorOf(10))).toEqual([avroChange]);
    void meter.decoder.decodeAt(cursorOf(20));
    void meter.decoder.decodeAt(cursorOf(20, "u"));
    expect(meter.formats().map(({ topic, format, records, sizes }) => ({ topic, format, records, bytes: sizes.totalBytes }))).toEqual([
      { topic: "t", format: { framing: "none", encoding: "json", envelope: "none" }, records: 1, bytes: 100 },
      { topic: "t", format: { framing: "confluent", encoding: "avro", envelope: "debezium" }, records: 2, bytes: 30 },
      { topic: "u", format: { framing: "confluent", encoding: "avro", envelope: "debezium" }, records: 1, bytes: 20 },
    ]);
    expect(meter).toMatchObject({ records: 4, bytes: 150, errorRecords: 0 });
  });

  test("keeps tombstones apart: they have no format of their own", () => {
    const meter = meterDecoder(decoderThat(() => [jsonRow]));
    void meter.decoder.decodeAt(cursorOf(null));
    expect(meter.formats()[0]?.format).toBe("tombstone");
  });

  test("times one record in thirty-two, without the first, for which the reader is compiled", () => {
    const meter = meterDecoder(decoderThat(() => [jsonRow]));
    for (let i = 0; i < 8_000; i++) {
      void meter.decoder.decodeAt(cursorOf(1));
    }
    const [{ records, decode } = { records: 0, decode: { count: 0 } }] = meter.formats();
    expect(records).toBe(8_000);
    expect(Math.abs(decode.count - 250)).toBeLessThan(40);
  });

  test.for([2, 4, 16, 32])("times each of %i formats that take turns", (formats) => {
    const rows = Array.from({ length: formats }, (_, i) => ({ ...jsonRow, encoding: `encoding ${i}` }) as unknown as CdcEvent);
    let asked = 0;
    const meter = meterDecoder(decoderThat(() => [rows.at(asked++ % formats) as CdcEvent]));
    for (let i = 0; i < formats * 3_200; i++) {
      void meter.decoder.decodeAt(cursorOf(1));
    }
    for (const { decode } of meter.formats()) {
      expect(Math.abs(decode.count - 100)).toBeLessThan(50);
    }
    expect(meter.formats()).toHaveLength(formats);
  });

  test("counts events that a schema is fetched for, and does not time them", async () => {
    const meter = meterDecoder(decoderThat(async () => [avroChange]));
    expect(await meter.decoder.decodeAt(cursorOf(5))).toEqual([avroChange]);
    expect(meter.formats()[0]).toMatchObject({ records: 1, events: 1, decode: { count: 0 } });
  });

  test("turns a record that cannot be decoded into no events and a count", async () => {
    const meter = meterDecoder(failing("malformed"));
    expect(meter.decoder.decodeAt(cursorOf(5))).toEqual([]);
    const late = meterDecoder(decoderThat(() => Promise.reject(new DecodeError("truncated", "late"))));
    expect(await late.decoder.decodeAt(cursorOf(5))).toEqual([]);
    expect(meter.errors()).toEqual([{ topic: "t", code: "malformed", records: 1, example: "[malformed] as a test wants it" }]);
    expect(late.errorRecords).toBe(1);
  });

  test("counts the time of records that cannot be decoded as decoding", () => {
    const busyMs = 0.05;
    const meter = meterDecoder(
      decoderThat(() => {
        for (const startMs = performance.now(); performance.now() - startMs < busyMs; ) {}
        throw new DecodeError("value-invalid", "as a test wants it");
      }),
    );
    for (let i = 0; i < 200; i++) {
      void meter.decoder.decodeAt(cursorOf(1));
    }
    expect(meter.decodeMs()).toBeGreaterThanOrEqual(0.9 * 200 * busyMs);
  });

  test("finds the errors of parts that are read late", () => {
    const broken = Object.defineProperty({ ...avroChange }, "after", {
      get() {
        throw new DecodeError("truncated", "late");
      },
    });
    const meter = meterDecoder(decoderThat(() => [broken as CdcEvent]));
    expect(meter.decoder.decodeAt(cursorOf(5))).toEqual([]);
    expect(meter.errorRecords).toBe(1);
  });

  test("counts a record once that is decoded again and again until the registry gives its schema, and says how long that takes", async () => {
    const answers = ["schema-unavailable", "schema-unavailable", null] as const;
    let asked = 0;
    const meter = meterDecoder(
      decoderThat(async () => {
        const code = answers[asked++] ?? null;
        if (code !== null) {
          throw new DecodeError(code, "as a test wants it");
        }
        return [avroChange];
      }),
    );
    for (const _ of [1, 2]) {
      await expect(meter.decoder.decodeAt(cursorOf(5))).rejects.toThrow("schema-unavailable");
      expect(meter).toMatchObject({ records: 0, bytes: 0 });
      await expect.poll(() => meter.registryAwayMs).toBeGreaterThan(0);
    }
    await meter.decoder.decodeAt(cursorOf(5));
    expect(meter).toMatchObject({ records: 1, bytes: 5, registryAwayMs: 0 });
  });

  test.each(["schema-unavailable", "schema-refused"] as const)("lets %s end the run: it says nothing about the record", (code) => {
    expect(() => meterDecoder(failing(code)).decoder.decodeAt(cursorOf(5))).toThrow(code);
  });
});
