import fc from "fast-check";
import { expect, test } from "vitest";
import { limitDefaults } from "../../options.ts";
import { Deferred, type ReadPlan } from "../reader.ts";
import { longs, named, sample } from "./samples.contract.ts";
import { avroType, avscTypeOf, type Outcome, outcomeOf, plain, readBoth, twins } from "./twins.contract.ts";

test("both readers read what avsc writes as avsc reads it", () => {
  fc.assert(
    fc.property(sample, (drawn) => {
      const { schema, value } = named(drawn);
      const avsc = avscTypeOf(schema);
      const payload = avsc.toBuffer(value);
      const outcome = readBoth(twins(avroType(schema), { values: { int64: "bigint" } }), payload);
      // At the top of a payload, bytes are written without their length.
      const expected = schema === "bytes" ? payload : avsc.fromBuffer(payload);
      expect(plain((outcome as { value: unknown }).value)).toEqual(plain(expected));
    }),
    { numRuns: 400 },
  );
});

test("an int64 is a number if that is exact, and a bigint if not", () => {
  const readers = twins(avroType({ type: "record", name: "R", fields: [{ name: "id", type: "long" }] }));
  const avsc = avscTypeOf({ type: "record", name: "R", fields: [{ name: "id", type: "long" }] });
  fc.assert(
    fc.property(longs, (id) => {
      const isSafe = id >= BigInt(Number.MIN_SAFE_INTEGER) && id <= BigInt(Number.MAX_SAFE_INTEGER);
      expect(readBoth(readers, avsc.toBuffer({ id }))).toStrictEqual({ value: { id: isSafe ? Number(id) : id } });
    }),
    { numRuns: 500 },
  );
});

test("both readers give the same result for cut or changed bytes, if a field is read, skipped or deferred", () => {
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat({ max: 255 }), (samples, place, byte) => {
      const { schema, value } = named({
        schema: { type: "record", name: "T", fields: samples.map((part, i) => ({ name: `f${i}`, type: part.schema })) },
        value: Object.fromEntries(samples.map((part, i) => [`f${i}`, part.value])),
      });
      const payload = avscTypeOf(schema).toBuffer(value);
      const changed = Buffer.from(payload);
      changed[place % (payload.length + 1)] = byte; // a byte at the end changes nothing
      const type = avroType(schema);
      for (const bytesToRead of [payload, changed, payload.subarray(0, place % (payload.length + 1))]) {
        const whole = readBoth(twins(type), bytesToRead);
        const skipped = readBoth(twins(type, { plan: { defer: null, skip: ["f0", "f1", "f2", "f3"], rows: [] } }), bytesToRead);
        expectSameDeferred(type, bytesToRead, whole);
        if (contentIsGood(whole)) {
          expect("value" in skipped ? "value" : skipped.code).toBe("value" in whole ? "value" : whole.code);
        }
      }
    }),
    { numRuns: 300 },
  );
});

/** Text that is not UTF-8 hides the errors after it, because skipping does not look at the content of texts. */
function contentIsGood(outcome: Outcome): boolean {
  return "value" in outcome || outcome.code !== "invalid-utf8";
}

function expectSameDeferred(type: ReturnType<typeof avroType>, payload: Buffer, whole: Outcome): void {
  const plan: ReadPlan = { defer: { field: "f0", peek: ["f0", "f1"], resolve: (peeked) => peeked }, skip: [], rows: [] };
  const [generated, closures] = twins(type, { plan, limits: limitDefaults }).map((reader) =>
    outcomeOf(() => {
      const value = reader.read(payload, 0, payload.length) as Record<string, unknown>;
      const part = value["f0"];
      return part instanceof Deferred ? { ...value, f0: part.value, peeked: undefined } : { ...value, peeked: undefined };
    }),
  );
  expect(generated).toStrictEqual(closures);
  if (contentIsGood(whole)) {
    expect(generated).toStrictEqual("value" in whole ? { value: { ...(whole.value as object), peeked: undefined } } : whole);
  }
}
