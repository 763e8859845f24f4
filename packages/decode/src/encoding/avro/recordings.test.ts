import { describe, expect, test } from "vitest";
import { Deferred, readEverything, type ReadPlan } from "../reader.ts";
import { resolveLimits } from "../../options.ts";
import { parseAvroSchema } from "./schema.ts";
import {
  avroType,
  avscTypeOf,
  expectSameOutcome,
  outcomeOf,
  plain,
  readBoth,
  recordedAvro,
  twins,
  withoutMeaning,
} from "./twins.contract.ts";

const envelopePlan: ReadPlan = {
  defer: { field: "source", peek: ["db", "schema", "table", "absent"], resolve: (peeked) => peeked },
  skip: ["ts_us", "ts_ns"],
  rows: ["before", "after"],
};

describe.each(["postgres-debezium-3.5", "salesorderdetail"])("recorded Avro: %s", (folder) => {
  const { schemas, payloads } = recordedAvro(folder);
  const ids = [...new Set(payloads.map(({ schemaId }) => schemaId))];
  const schemaOf = (id: number): string => schemas.get(id) ?? "";

  test("there are payloads, and each has its schema", () => {
    expect(payloads.length).toBeGreaterThan(90);
    expect(ids.every((id) => schemas.has(id))).toBe(true);
  });

  test("both readers give what avsc gives", () => {
    for (const id of ids) {
      const schema = withoutMeaning(schemaOf(id));
      const readers = twins(avroType(schema), { values: { int64: "bigint" } });
      const avsc = avscTypeOf(schema);
      for (const { payload } of payloads.filter(({ schemaId }) => schemaId === id)) {
        const outcome = readBoth(readers, payload);
        expect(plain((outcome as { value: unknown }).value)).toEqual(plain(avsc.fromBuffer(payload)));
      }
    }
  });

  test("both readers convert, skip and defer with the same result, and a deferred part gives what reading it at once gives", () => {
    for (const id of ids) {
      const type = parseAvroSchema(schemaOf(id), [], resolveLimits());
      const [generated, closures] = twins(type, { plan: envelopePlan });
      const [everything] = twins(type);
      for (const { payload } of payloads.filter(({ schemaId }) => schemaId === id)) {
        const values = [generated, closures].map((reader) => reader.read(payload, 0, payload.length));
        const [fromCode, fromClosures] = values.map(withoutDeferred);
        expect(fromCode).toStrictEqual(fromClosures);
        const whole = everything.read(payload, 0, payload.length) as Record<string, unknown>;
        expect((fromCode as Record<string, unknown>)["source"]).toStrictEqual(expectedSource(whole, values[0]));
      }
    }
  });

  test("every payload cut at any byte ends in a DecodeError, the same for both readers", () => {
    const some = folder === "salesorderdetail" ? payloads.slice(0, 12) : payloads;
    for (const [id, plan] of ids.flatMap((each) => [[each, readEverything] as const, [each, envelopePlan] as const])) {
      const readers = twins(parseAvroSchema(schemaOf(id), [], resolveLimits()), { plan });
      for (const { payload } of some.filter(({ schemaId }) => schemaId === id)) {
        for (let length = 0; length < Math.min(payload.length, 2_000); length++) {
          expectSameOutcome(readBoth(readers, payload.subarray(0, length)), { code: "truncated" });
        }
      }
    }
  });

  test("a byte more than the value ends in trailing-bytes", () => {
    for (const id of ids) {
      const readers = twins(parseAvroSchema(schemaOf(id), [], resolveLimits()));
      for (const { payload } of payloads.filter(({ schemaId }) => schemaId === id).slice(0, 10)) {
        expect(readBoth(readers, Buffer.concat([payload, Buffer.from([0])]))).toEqual({ code: "trailing-bytes" });
      }
    }
  });

  test("both readers give the same value or the same DecodeError for every flipped bit", () => {
    for (const id of ids) {
      const readers = twins(parseAvroSchema(schemaOf(id), [], resolveLimits()), { plan: envelopePlan });
      for (const { payload } of payloads.filter(({ schemaId }) => schemaId === id).slice(0, 3)) {
        for (let bit = 0; bit < Math.min(payload.length, 400) * 8; bit++) {
          const flipped = Buffer.from(payload);
          flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
          const [generated, closures] = readers;
          expectSameOutcome(
            outcomeOf(() => withoutDeferred(generated.read(flipped, 0, flipped.length))),
            outcomeOf(() => withoutDeferred(closures.read(flipped, 0, flipped.length))),
          );
        }
      }
    }
  });
});

function withoutDeferred(value: unknown): unknown {
  const source = (value as { source?: unknown } | null)?.source;
  return source instanceof Deferred ? { ...(value as object), source: outcomeOf(() => source.value), peeked: source.peeked } : value;
}

/** The expected value of a field after `withoutDeferred`, from a reader that defers nothing. */
function expectedSource(whole: Record<string, unknown>, read: unknown): unknown {
  return (read as { source?: unknown }).source instanceof Deferred ? { value: whole["source"] } : whole["source"];
}
