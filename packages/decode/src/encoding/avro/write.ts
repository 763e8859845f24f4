/**
 * Writes parsed JSON as Avro's binary encoding: messages in Avro's JSON encoding, and the defaults of schemas. The result is read like any
 * other value, with the same semantics and the same bounds.
 */
import { DecodeError, isDecodeError } from "../../errors.ts";
import { isJsonObject, NumberText } from "../json/parse.ts";
import type { Field, RecordType, Type, UnionType } from "../type.ts";
import { branchName, fieldDetailsOf } from "./details.ts";

/** How a union's value is written in the JSON: with the name of its branch (messages), or as the bare value of a branch (defaults). */
export type UnionForm = "named" | "bare";

type Write = (value: unknown, out: Writer) => void;

/** A function that writes values of a type. The defaults of the fields that one value leaves out may take `maxDefaultBytes` together. */
export function compileWriter(type: Type, unions: UnionForm): (value: unknown, maxDefaultBytes: number) => Buffer {
  const write = new WriterClosureCompiler(unions).write(type, "the value");
  return (value, maxDefaultBytes) => {
    const out = new Writer(maxDefaultBytes);
    write(value, out);
    return out.bytes();
  };
}

/** The maximum size of one default: records whose fields have defaults can double it on each level. */
const maxDefaultBytes = 65_536;
/** How many branches of unions are tried for one default. The branches of nested unions multiply. */
const maxAttempts = 10_000;
/** The written defaults of fields; null while a default is being written. */
const defaults = new WeakMap<Field, Buffer | null>();

/** The default of a field in the binary encoding; null if it has none. */
export function defaultBytes(field: Field): Buffer | null {
  const { defaultValue } = fieldDetailsOf(field);
  const known = defaults.get(field);
  if (defaultValue === null || (known !== undefined && known !== null)) {
    return known ?? null;
  }
  if (known === null) {
    throw new DecodeError("schema-invalid", `the default of the field ${JSON.stringify(field.name)} contains itself`);
  }
  defaults.set(field, null);
  try {
    const bytes = compileWriter(field.type, "bare")(defaultValue.json, maxDefaultBytes);
    defaults.set(field, bytes);
    return bytes;
  } catch (error) {
    defaults.delete(field);
    throw isDecodeError(error) && error.code === "value-invalid" ? misfit(field, error) : error;
  }
}

function misfit({ name }: Field, { detail }: DecodeError): DecodeError {
  return new DecodeError("schema-invalid", `the default of the field ${JSON.stringify(name)} does not fit its type: ${detail}`);
}

class Writer {
  #buffer = Buffer.allocUnsafe(1_024);
  #length = 0;
  #defaultBytesLeft: number;
  #attempts = 0;

  constructor(maxDefaultBytes: number) {
    this.#defaultBytesLeft = maxDefaultBytes;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  /** Tries to write a value. If it does not fit, nothing is written, and the result is false. */
  attempt(write: () => void): boolean {
    const start = this.#length;
    if (++this.#attempts > maxAttempts) {
      throw new DecodeError("schema-invalid", `expected a default that fits its unions in at most ${maxAttempts} ways, found more`);
    }
    try {
      write();
      return true;
    } catch (error) {
      if (!isDecodeError(error) || error.code !== "value-invalid") {
        throw error;
      }
      this.#length = start;
      return false;
    }
  }

  long(value: number | bigint): void {
    if (typeof value === "number" && value === (value | 0)) {
      this.#varint(((value << 1) ^ (value >> 31)) >>> 0);
      return;
    }
    let bits = BigInt(value);
    bits = bits < 0n ? (-bits << 1n) - 1n : bits << 1n;
    for (; bits > 127n; bits >>= 7n) {
      this.byte(Number(bits & 127n) | 128);
    }
    this.byte(Number(bits));
  }

  #varint(bits: number): void {
    let rest = bits;
    for (; rest > 127; rest >>>= 7) {
      this.byte((rest & 127) | 128);
    }
    this.byte(rest);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /**
   * Writes the default of a field that the value leaves out. A budget limits it, because a few characters must not stand for many bytes.
   */
  byDefault(bytes: Uint8Array): void {
    this.#defaultBytesLeft -= bytes.length;
    if (this.#defaultBytesLeft < 0) {
      throw new DecodeError(
        "limit-exceeded",
        "expected short defaults for the fields that are left out, found more bytes of defaults than the message has",
      );
    }
    this.raw(bytes);
  }

  sized(bytes: Uint8Array): void {
    this.long(bytes.length);
    this.raw(bytes);
  }

  float(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeFloatLE(value, this.#length);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
  }
}

class WriterClosureCompiler {
  readonly #unions: UnionForm;
  readonly #records = new Map<unknown, Write>();

  constructor(unions: UnionForm) {
    this.#unions = unions;
  }

  write(type: Type, where: string): Write {
    switch (type.kind) {
      case "null":
        return (value) => {
          expect(value === null, "null", where);
        };
      case "boolean":
        return (value, out) => {
          expect(typeof value === "boolean", "a boolean", where);
          out.byte(value === true ? 1 : 0);
        };
      case "int":
      case "long":
        return writeInteger(type.kind === "int" ? 31n : 63n, where);
      case "float":
        return (value, out) => out.float(asDouble(value, where));
      case "double":
        return (value, out) => out.double(asDouble(value, where));
      case "string":
        return (value, out) => out.sized(utf8(asText(value, where), where));
      case "bytes":
        return (value, out) => out.sized(asBytes(value, where));
      case "fixed":
        return (value, out) => {
          const bytes = asBytes(value, where);
          expect(bytes.length === type.size, `${type.size} bytes`, where);
          out.raw(bytes);
        };
      case "enum": {
        const indexes = new Map(type.symbols.map((symbol, i) => [symbol, i]));
        return (value, out) => out.long(indexes.get(asText(value, where)) ?? fail("a symbol of the enum", where));
      }
      case "array":
        return this.#writeArray(this.write(type.items, `an item of ${where}`), where);
      case "map":
        return type.keys === null
          ? this.#writeMap(this.write(type.values, `a value of ${where}`), where)
          : this.#writeArray(
              this.#writeFields(
                [
                  ["key", this.write(type.keys, `a key of ${where}`)],
                  ["value", this.write(type.values, `a value of ${where}`)],
                ],
                where,
              ),
              where,
            );
      case "record":
        return this.#writeRecord(type, where);
      case "union":
        return this.#unions === "named" ? this.#writeNamed(type, where) : this.#writeBare(type, where);
      case "any":
        return fail("a type", where);
    }
  }

  #writeArray(item: Write, where: string): Write {
    return (value, out) => {
      if (!Array.isArray(value)) {
        return fail("an array", where);
      }
      if (value.length > 0) {
        out.long(value.length);
        for (const one of value) {
          item(one, out);
        }
      }
      out.byte(0);
    };
  }

  #writeMap(item: Write, where: string): Write {
    return (value, out) => {
      const names = isJsonObject(value) ? Object.keys(value) : fail("an object", where);
      if (names.length > 0) {
        out.long(names.length);
        for (const name of names) {
          out.sized(utf8(name, where));
          item((value as Record<string, unknown>)[name], out); // Object.keys succeeded above, so it is an object
        }
      }
      out.byte(0);
    };
  }

  #writeRecord(type: RecordType, where: string): Write {
    const known = this.#records.get(type.fields);
    if (known !== undefined) {
      return known;
    }
    let compiled: Write | null = null;
    this.#records.set(type.fields, (value, out) => compiled?.(value, out)); // `compiled` is set before anything is written
    compiled = this.#writeFields(
      type.fields.map((field) => [field.name, this.write(field.type, `${where}.${field.name}`), field] as const),
      where,
    );
    return compiled;
  }

  /** A field with a default may be left out. Java's writer does not do that, some others do. */
  #writeFields(fields: readonly (readonly [name: string, write: Write, field?: Field])[], where: string): Write {
    return (value, out) => {
      if (!isJsonObject(value)) {
        return fail("an object", where);
      }
      let missing = 0;
      for (const [name, write, field] of fields) {
        if (Object.hasOwn(value, name)) {
          write(value[name], out);
        } else {
          missing++;
          out.byDefault((field && defaultBytes(field)) ?? fail("an object with all fields of the record", where));
        }
      }
      expect(Object.keys(value).length + missing === fields.length, "an object with no other fields than those of the record", where);
    };
  }

  #writeNamed(type: UnionType, where: string): Write {
    const writes = type.branches.map((branch) => this.write(branch, where));
    const indexes = new Map(type.branches.map((branch, i) => [branchName(branch), i]));
    return (value, out) => {
      const [name = "null", ...more] = isJsonObject(value) ? Object.keys(value) : [];
      const index = indexes.get(name);
      if (index === undefined || more.length > 0 || (name === "null" && value !== null)) {
        return fail("null, or an object that names a branch of the union", where);
      }
      out.long(index);
      writes[index]?.(value === null ? null : (value as Record<string, unknown>)[name], out); // an object with that name, as `index` was found by it
    };
  }

  /** A default belongs to the first branch. Newer versions of the specification allow any branch that it fits. */
  #writeBare(type: UnionType, where: string): Write {
    const writes = type.branches.map((branch) => this.write(branch, where));
    return (value, out) => {
      const isWritten = writes.some((write, index) =>
        out.attempt(() => {
          out.long(index);
          write(value, out);
        }),
      );
      expect(isWritten, "a value of a branch of the union", where);
    };
  }
}

function writeInteger(bits: bigint, where: string): Write {
  const max = (1n << bits) - 1n;
  return (value, out) => {
    if (typeof value === "number" && value === (value | 0)) {
      out.long(value);
      return;
    }
    const isExactInteger = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
    const whole = isExactInteger ? BigInt(value) : fail("an integer", where);
    expect(whole <= max && whole >= -max - 1n, `an integer of ${bits + 1n} bits`, where);
    out.long(whole);
  };
}

/** What Jackson writes for the doubles that JSON has no number for. */
const nonFinite: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

function asDouble(value: unknown, where: string): number {
  const double = value instanceof NumberText ? Number(value.text) : typeof value === "bigint" ? Number(value) : value;
  if (typeof double === "number" && Number.isFinite(double)) {
    return double;
  }
  return nonFinite.get(value) ?? fail("a number within a double's range", where);
}

function asText(value: unknown, where: string): string {
  return typeof value === "string" ? value : fail("a string", where);
}

/** JSON's escapes can write half of a surrogate pair, which UTF-8 cannot encode. */
function utf8(text: string, where: string): Buffer {
  expect(!/\p{Surrogate}/u.test(text), "text of whole characters", where);
  return Buffer.from(text, "utf8");
}

/** Each character is one byte: ISO-8859-1. */
function asBytes(value: unknown, where: string): Buffer {
  const text = asText(value, where);
  for (let i = 0; i < text.length; i++) {
    expect(text.charCodeAt(i) <= 0xff, "text of characters up to U+00FF, a byte each", where);
  }
  return Buffer.from(text, "latin1");
}

function expect(condition: boolean, expected: string, where: string): void {
  if (!condition) {
    fail(expected, where);
  }
}

function fail(expected: string, where: string): never {
  throw new DecodeError(
    "value-invalid",
    `expected ${expected} in ${where}, as its Avro schema declares, found another kind of JSON value; check whether the message was written with another schema`,
  );
}
