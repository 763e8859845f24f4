/** Schemas of every kind of type, with values that fit them. */
import fc from "fast-check";

/** A schema with a value that fits it. Names get a number when the schema is used, so that no two types share one. */
export interface Sample {
  readonly schema: unknown;
  readonly value: unknown;
}

export const longs: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 53n) - 2n, max: -(2n ** 53n) + 2n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
  fc.bigInt({ min: -70n, max: 70n }),
);
const texts = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ minLength: 20, maxLength: 60 }), fc.constant("\ufffd"));
const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => Buffer.from(value));

const scalar: fc.Arbitrary<Sample> = fc.oneof(
  fc.constant({ schema: "null", value: null }),
  fc.boolean().map((value) => ({ schema: "boolean", value })),
  fc.integer().map((value) => ({ schema: "int", value })),
  longs.map((value) => ({ schema: "long", value })),
  fc.float({ noDefaultInfinity: true }).map((value) => ({ schema: "float", value })),
  fc.double().map((value) => ({ schema: "double", value })),
  texts.map((value) => ({ schema: "string", value })),
  bytes.map((value) => ({ schema: "bytes", value })),
  bytes.map((value) => ({ schema: { type: "fixed", name: "F", size: value.length }, value })),
  fc.constantFrom("A", "B", "C").map((value) => ({ schema: { type: "enum", name: "E", symbols: ["A", "B", "C"] }, value })),
);

const drawn = fc.letrec<{ sample: Sample; record: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    scalar.filter(({ schema }) => schema !== "null").map(({ schema, value }) => ({ schema: ["null", schema], value })),
    fc.tuple(scalar, fc.boolean()).map(([{ schema, value }, isNull]) => ({
      schema: schema === "null" ? ["null", "int"] : [schema, "null"],
      value: isNull ? null : value,
    })),
    fc.tuple(tie("sample"), fc.nat({ max: 3 })).map(([{ schema, value }, count]) => ({
      schema: { type: "array", items: schema },
      value: new Array(count).fill(value),
    })),
    fc.tuple(tie("sample"), fc.uniqueArray(texts, { maxLength: 3 })).map(([{ schema, value }, keys]) => ({
      schema: { type: "map", values: schema },
      value: Object.fromEntries(keys.filter((key) => key !== "__proto__").map((key) => [key, value])),
    })),
    tie("record"),
  ),
  record: fc.array(tie("sample"), { maxLength: 6 }).map((fields) => ({
    schema: { type: "record", name: "R", fields: fields.map(({ schema }, i) => ({ name: `f${i}`, type: schema })) },
    value: Object.fromEntries(fields.map(({ value }, i) => [`f${i}`, value])),
  })),
}));

export const sample: fc.Arbitrary<Sample> = drawn.sample;

/** The same schema with names of its own for its types. */
export function named({ schema, value }: Sample): Sample {
  let count = 0;
  const numbered = JSON.parse(JSON.stringify(schema), (_, part: unknown) => {
    const { type, name } = (part ?? {}) as { type?: unknown; name?: unknown };
    return typeof name === "string" && ["record", "enum", "fixed"].includes(type as string)
      ? { ...(part as object), name: `${name}${count++}` }
      : part;
  });
  return { schema: numbered, value };
}
