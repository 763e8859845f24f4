import { inspect, isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits, resolveValueOptions, type ValueOptions } from "../../options.ts";
import { parseJson } from "../json/parse.ts";
import { fastPathMiss } from "../fast-path.ts";
import { JsonReader } from "../json/reader.ts";
import { Deferred, type ReadPlan, readEverything } from "../reader.ts";
import { parseConnectSchema } from "./schema.ts";

/** A Connect schema, and a value of it as JsonConverter writes it. */
interface Sample {
  readonly schema: object;
  readonly text: string;
  /** What JSON.parse reads exactly: no integer beyond 2^53, and no infinite or NaN double. */
  readonly isPlain: boolean;
}

type Samples = fc.Arbitrary<Sample>;

const sample = (schema: object, text: string, isPlain = true): Sample => ({ schema, text, isPlain });
const string = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("__debezium_unavailable_value", "NaN", '"\\\u2028', "\ud800", "😀"),
);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const base64 = (max: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: 1, maxLength: max }).map((bytes) => JSON.stringify(Buffer.from(bytes).toString("base64")));

const wellFormed = (text: string): string => JSON.stringify(text);
const isSafe = (value: bigint): boolean => value >= -(2n ** 53n) && value <= 2n ** 53n;

const scalars: readonly Samples[] = [
  fc.boolean().map((value) => sample({ type: "boolean" }, String(value))),
  fc.integer().map((value) => sample({ type: "int32" }, String(value))),
  int64.map((value) => sample({ type: "int64" }, String(value), isSafe(value))),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => sample({ type: "double" }, JSON.stringify(value), !Object.is(value, -0))),
  fc.constantFrom('"NaN"', '"Infinity"', '"-Infinity"', "-0.0", "1E5").map((text) => sample({ type: "double" }, text, false)),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => sample({ type: "float" }, JSON.stringify(value), false)),
  string.map((value) => sample({ type: "string" }, wellFormed(value))),
  base64(40).map((text) => sample({ type: "bytes" }, text, false)),
];

const named = (type: string, name: string, value: fc.Arbitrary<string>, parameters?: object): Samples =>
  value.map((text) => sample({ type, name, version: 1, ...(parameters === undefined ? {} : { parameters }) }, text, false));

const decimal = "org.apache.kafka.connect.data.Decimal";
const semantic: readonly Samples[] = [
  named("bytes", decimal, base64(20), { scale: "2" }),
  named("bytes", decimal, fc.constantFrom("12", "-0.05", "123.40", "9007199254740993"), { scale: "2" }),
  named("int32", "io.debezium.time.Date", fc.integer({ min: -1e6, max: 1e6 }).map(String)),
  named("int64", "io.debezium.time.MicroTimestamp", fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(String)),
  named("int64", "io.debezium.time.NanoTimestamp", int64.map(String)),
  named("string", "io.debezium.time.ZonedTimestamp", fc.constantFrom('"2018-06-20T15:13:16.945104Z"', '"infinity"')),
  named("string", "io.debezium.data.Json", fc.constantFrom('"{\\"a\\":[1,2.50,9007199254740993]}"', '"null"')),
  named("string", "io.debezium.data.EnumSet", fc.constantFrom('"a,b"', '""')),
  named("bytes", "io.debezium.data.Bits", base64(2), { length: "10" }),
];

/** What a column may hold: a scalar, or a struct, an array or a map of them; or null if the column is optional. */
const value: Samples = fc.letrec<{ value: Sample }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    ...scalars,
    ...semantic,
    fc.array(tie("value"), { maxLength: 3 }).map(struct),
    fc
      .tuple(tie("value"), fc.nat(3))
      .map(([item, count]) => sample({ type: "array", items: item.schema }, `[${Array(count).fill(item.text).join()}]`, item.isPlain)),
    fc
      .tuple(tie("value"), fc.uniqueArray(string, { maxLength: 3 }))
      .map(([item, names]) =>
        sample(
          { type: "map", keys: { type: "string" }, values: item.schema },
          `{${names.map((name) => `${wellFormed(name)}:${item.text}`).join()}}`,
          false,
        ),
      ),
    fc
      .tuple(tie("value"), fc.uniqueArray(fc.integer(), { maxLength: 3 }))
      .map(([item, keys]) =>
        sample(
          { type: "map", keys: { type: "int32" }, values: item.schema },
          `[${keys.map((key) => `[${key},${item.text}]`).join()}]`,
          false,
        ),
      ),
  ),
})).value;

const optional = fc
  .tuple(value, fc.boolean())
  .map(([of, isNull]) => sample({ ...of.schema, optional: true }, isNull ? "null" : of.text, of.isPlain));

function struct(members: readonly Sample[]): Sample {
  const fields = members.map(({ schema }, i) => ({ ...schema, field: nameOf(i) }));
  const text = `{${members.map((member, i) => `${wellFormed(nameOf(i))}:${member.text}`).join()}}`;
  return sample(
    { type: "struct", fields },
    text,
    members.every(({ isPlain }) => isPlain),
  );
}

function nameOf(i: number): string {
  return ["id", "__proto__", 'quo"te\\', "größe", "constructor", "\u2028"][i] ?? `column ${i}`;
}

const row = fc.array(fc.oneof(value, optional), { maxLength: 8 }).map(struct);
const envelope = fc
  .tuple(row, fc.array(fc.oneof(...scalars), { minLength: 1, maxLength: 4 }).map(struct), fc.boolean())
  .map(([of, source, isDelete]) => {
    const image = { ...of.schema, optional: true };
    const fields = [
      { ...image, field: "before" },
      { ...image, field: "after" },
      { ...source.schema, field: "source" },
      { type: "string", field: "op" },
      { type: "int64", field: "ts_ns" },
    ];
    const [before, after] = isDelete ? [of.text, "null"] : ["null", of.text];
    return sample(
      { type: "struct", fields },
      `{"before":${before},"after":${after},"source":${source.text},"op":"c","ts_ns":1723115239782690123}`,
      false,
    );
  });

const envelopePlan: ReadPlan = {
  defer: { field: "source", peek: ["id", "größe"], resolve: (peeked) => peeked },
  skip: ["ts_ns"],
  rows: ["before", "after"],
};

const optionSets: readonly ValueOptions[] = [
  {},
  { int64: "bigint", numbers: "exact", decimal: "number", time: "date", json: "parse", bits: "bytes" },
  { int64: "string", time: "raw", bits: "bigint", decimal: (unscaled, scale) => [unscaled, scale] },
  { unavailablePlaceholder: "NaN" },
];

function readerFor(schema: object, plan: ReadPlan, values: ValueOptions, codeGeneration = true): JsonReader {
  const limits = resolveLimits();
  const type = parseConnectSchema(schema, "the schema", limits.maxDepth);
  return new JsonReader("connect-json", type, { values: resolveValueOptions(values), limits, plan, codeGeneration, isRanged: true });
}

function parsed(text: string): unknown {
  const bytes = Buffer.from(text);
  return parseJson(bytes, 0, bytes.length, { maxDepth: 64 });
}

function withoutDeferred(of: unknown): unknown {
  const source = (of as { source?: unknown } | null)?.source;
  return source instanceof Deferred ? { ...(of as object), source: outcomeOf(() => source.value), peeked: source.peeked } : of;
}

function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: withoutDeferred(read()) };
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { code: error.code };
  }
}

/** The matchers of the test library read an object's constructor, which is a column here. */
function expectSame(found: unknown, expected: unknown): void {
  expect(isDeepStrictEqual(found, expected), `${inspect(found, { depth: 9 })}\ninstead of\n${inspect(expected, { depth: 9 })}`).toBe(true);
}

describe.each([
  ["rows", row, { defer: null, skip: [], rows: "self" } as ReadPlan],
  ["keys", row, readEverything],
  ["envelopes", envelope, envelopePlan],
])("generated Connect schemas and values: %s", (_name, samples, plan) => {
  test.each(optionSets)("the generated reader gives the same as parsing and converting, with %j", (values) => {
    fc.assert(
      fc.property(samples, ({ schema, text }) => {
        const bytes = Buffer.from(`}]${text}}]`);
        const [start, end] = [2, bytes.length - 2];
        const slowly = outcomeOf(() => readerFor(schema, plan, values).convert(parsed(text)));
        expectSame(
          outcomeOf(() => readerFor(schema, plan, values).read(bytes, start, end)),
          slowly,
        );
        expectSame(
          outcomeOf(() => readerFor(schema, plan, values, false).read(bytes, start, end)),
          slowly,
        );
        const readFast = readerFor(schema, plan, values).readFast(bytes, start, end);
        if (readFast !== fastPathMiss) {
          expectSame({ value: withoutDeferred(readFast) }, slowly);
        }
      }),
    );
  });

  test("both readers give the same result for text that is cut or changed in one byte", () => {
    fc.assert(
      fc.property(samples, fc.nat(), fc.nat(255), ({ schema, text }, at, byte) => {
        const changed = Buffer.from(text);
        changed[at % changed.length] = byte;
        for (const bytes of [changed, Buffer.from(text).subarray(0, at % changed.length)]) {
          const fast = readerFor(schema, plan, {});
          const slow = readerFor(schema, plan, {}, false);
          expectSame(
            outcomeOf(() => fast.read(bytes, 0, bytes.length)),
            outcomeOf(() => slow.read(bytes, 0, bytes.length)),
          );
        }
      }),
    );
  });
});

test("text from converters takes the fast path", () => {
  const readFast = fc.sample(
    fc.array(fc.oneof(...scalars.slice(0, 4), scalars[6] as Samples), { minLength: 1, maxLength: 6 }).map(struct),
    200,
  );
  for (const { schema, text } of readFast) {
    expect(readerFor(schema, readEverything, {}).readFast(Buffer.from(text), 0, Buffer.byteLength(text)), text).not.toBe(fastPathMiss);
  }
});

test("JSON.parse gives the same if it is exact", () => {
  fc.assert(
    fc.property(
      row.filter(({ isPlain }) => isPlain),
      ({ schema, text }) => {
        const bytes = Buffer.from(text);
        expect(readerFor(schema, readEverything, {}).read(bytes, 0, bytes.length)).toEqual(JSON.parse(text));
      },
    ),
  );
});

test("any JSON text gives the same value as JSON.parse, or is an error for both", () => {
  const texts = fc.oneof(
    fc.json(),
    fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:0-.e\\ \n'))
      .map(([text, at, byte]) => text.slice(0, at % text.length) + byte + text.slice((at % text.length) + 1)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = Buffer.from(text);
      const ours = outcomeOf(() => readerFor({ type: "string" }, readEverything, {}).convert("x") && loose(parsed(bytes.toString())));
      const theirs = ((): unknown => {
        try {
          return { value: loose(JSON.parse(bytes.toString())) };
        } catch {
          return { code: expect.any(String) as unknown };
        }
      })();
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 2_000 },
  );
});

/** Numbers as doubles, because JSON.parse has no others. */
function loose(of: unknown): unknown {
  if (typeof of === "bigint") {
    return Number(of);
  }
  if (Array.isArray(of)) {
    return of.map(loose);
  }
  if (typeof of !== "object" || of === null) {
    return of;
  }
  return "text" in of && of.constructor.name === "NumberText"
    ? Number(of.text)
    : Object.fromEntries(Object.entries(of).map(([name, item]) => [name, loose(item)]));
}
