import fc from "fast-check";
import { expect, test } from "vitest";
import type { Deferred, ReadPlan } from "../reader.ts";
import { avroType, avscTypeOf, outcomeOf, type Outcome, twins } from "./twins.contract.ts";

/**
 * A generated reader moves over the fields of a deferred block that stand as they did in an earlier message. What it gives for a sequence of
 * messages must be what closures give, which remember nothing.
 */

const optional = (type: string): readonly string[] => ["null", type];
const source = {
  type: "record",
  name: "Source",
  fields: [
    { name: "version", type: "string" },
    { name: "db", type: "string" },
    ...Array.from({ length: 9 }, (_, i) => ({ name: `none${i}`, type: optional("long") })), // a run of zero bytes
    { name: "rate", type: "double" },
    { name: "ts_ms", type: "long" },
    { name: "table", type: optional("string") },
    { name: "kind", type: { type: "enum", name: "Kind", symbols: ["A", "B"] } },
    { name: "isLast", type: "boolean" },
    { name: "gtid", type: "bytes" }, // read each time
    { name: "lsn", type: optional("long") },
  ],
};
const schema = {
  type: "record",
  name: "Envelope",
  fields: [
    { name: "id", type: "int" },
    { name: "source", type: source },
    { name: "op", type: "string" },
  ],
};
const plan: ReadPlan = {
  defer: { field: "source", peek: ["db", "table", "absent"], resolve: (peeked) => [...peeked] },
  skip: [],
  rows: [],
};
const type = avroType(schema);
const writer = avscTypeOf(schema);

/** Values of which most are those of the message before: blocks of several tables, with numbers that change. */
const message = fc.record({
  id: fc.constantFrom(1, 300),
  source: fc.record({
    version: fc.constant("3.5.0"),
    db: fc.constantFrom("sales", "sales", "sales", "s"),
    ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`none${i}`, fc.constantFrom(null, null, null, null, null, null, -1n)])),
    rate: fc.constantFrom(0, 0, -0, Number.NaN, 1.5),
    ts_ms: fc.constantFrom(5n, 5n, 5n, -1n, 1_795_244_642_527n),
    table: fc.constantFrom("orders", "orders", "orders", "orders_2", "é", null),
    kind: fc.constantFrom("A", "A", "B"),
    isLast: fc.constantFrom(false, false, true),
    gtid: fc.constantFrom(Buffer.from("a"), Buffer.alloc(20)),
    lsn: fc.constantFrom(7n, 7n, null, 2n ** 62n),
  }),
  op: fc.constantFrom("c", "u"),
});
/** What is done to the bytes: mostly nothing, or one is changed, or they end early. */
const damage = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.record({ at: fc.nat(), byte: fc.constantFrom(0x00, 0x7f, 0x80, 0xff, 0x04) }) },
  { weight: 1, arbitrary: fc.record({ at: fc.nat(), byte: fc.constant(null) }) },
);

test("a sequence of messages is read as if each were the first", () => {
  const sequence = fc.array(fc.record({ message, damage, repeats: fc.constantFrom(1, 1, 1, 3, 70) }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(sequence, (messages) => {
      const [generated, closures] = twins(type, { plan });
      for (const { message: value, damage: done, repeats } of messages) {
        const payload = damaged(writer.toBuffer(value), done);
        for (let i = 0; i < repeats; i++) {
          expect(read(generated, payload)).toStrictEqual(read(closures, payload));
        }
      }
    }),
    { numRuns: 60 },
  );
});

function damaged(payload: Buffer, done: { readonly at: number; readonly byte: number | null } | null): Buffer {
  if (done === null) {
    return payload;
  }
  const at = done.at % payload.length;
  return done.byte === null ? payload.subarray(0, at) : Buffer.from(payload.fill(done.byte, at, at + 1));
}

/** The value with its deferred part, and what was made of the texts that were peeked at. Nothing lies after the payload in its memory. */
function read(reader: ReturnType<typeof twins>[0], payload: Buffer): Outcome {
  const bytes = Uint8Array.from(Buffer.concat([Buffer.alloc(3, 0x80), payload]));
  return outcomeOf(() => {
    const value = reader.read(bytes, 3, bytes.length) as Record<string, unknown>;
    const part = value["source"] as Deferred;
    return { ...value, source: part.value, peeked: part.peeked };
  });
}
