import { DecodeError, inField, inItem } from "../../errors.ts";
import type { ResolvedLimits, ResolvedValueOptions } from "../../options.ts";
import type { Conversion, Semantic } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import { UNAVAILABLE, type UnavailableTests } from "../../values/unavailable.ts";
import { type Field, type PrimitiveType, type RecordType, type Type, withoutNull } from "../type.ts";
import { setProperty } from "../../set-property.ts";
import { type IntegerRange, rangeOf } from "./integer-range.ts";
import { isJsonObject, NumberText } from "./parse.ts";
import { asDouble, finite, fromBase64, mismatch, wholeNumber } from "./scalars.ts";
import { jsonColumnTest } from "./unavailable-column.ts";

/** Converts a parsed JSON value by its type. Callers handle null before, which is null for every type. */
export type Convert = (value: unknown) => unknown;

export interface ConvertContext {
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  readonly parseJson: (text: string) => unknown;
  readonly unavailable: UnavailableTests;
  /** Whether the values were parsed in their final form: fractions as doubles, integers as they are shown. */
  readonly isFinal?: boolean;
  /** Whether a long is limited to 64 bits. Connect's longs are, integers of JSON Schema are not. */
  readonly isRanged: boolean;
  /** The records that are compiled so far. A record may contain itself, and many may contain the same one. */
  readonly records: Map<RecordType, Convert>;
}

/**
 * Converts parsed JSON to values, for every type. It is the simple and slow twin of the generated readers, which are tested against it. It
 * runs if a text is not spelled as its schema's writer spells it.
 */
export function compileConvert(type: Type, context: ConvertContext): Convert {
  const convert = compileNonNull(type, context);
  return (value) => (value === null ? null : convert(value));
}

/** The same for a column of a row, in which Debezium's placeholder becomes UNAVAILABLE. */
export function compileColumn(type: Type, context: ConvertContext): Convert {
  const convert = compileConvert(type, context);
  const isUnavailable = jsonColumnTest(withoutNull(type).kind, context.unavailable);
  return (value) => (value !== null && isUnavailable(value) ? UNAVAILABLE : convert(value));
}

function compileNonNull(type: Type, context: ConvertContext): Convert {
  const conversion = type.semantic === undefined ? null : conversionFor(type.semantic, context.values, context.parseJson);
  switch (type.kind) {
    case "null":
      return () => mismatch("null");
    case "boolean":
      return (value) => (typeof value === "boolean" ? value : mismatch("a boolean"));
    case "int":
    case "long":
      return compileInteger(type as PrimitiveType, conversion, context); // all kinds of integers are primitive types
    case "float":
    case "double":
      return compileDouble(type.kind, conversion);
    case "string":
    case "enum":
      return compileText(conversion);
    case "bytes":
    case "fixed":
      return compileBytes(conversion);
    case "array":
      return orOtherKind(type, Array.isArray, compileArray(type.items, conversion, context), context);
    case "map":
      return orOtherKind(type, isJsonObject, compileMap(type.keys, type.values, context), context);
    case "record":
      return orOtherKind(type, isJsonObject, compileRecord(type, conversion, context), context);
    case "union": {
      const only = withoutNull(type);
      return only.kind === "union" ? compileAny(undefined, context) : compileNonNull(only, context);
    }
    case "any":
      return compileAny(type.semantic, context);
  }
}

/** A value of another kind than the described one is any JSON value, if its schema allows it. */
export function orOtherKind(
  { allowsOtherKinds }: { readonly allowsOtherKinds?: true },
  isDescribed: (value: unknown) => boolean,
  convert: Convert,
  context: ConvertContext,
): Convert {
  if (allowsOtherKinds !== true) {
    return convert;
  }
  const convertOther = compileAny(undefined, context);
  return (value) => (isDescribed(value) ? convert(value) : convertOther(value));
}

function compileInteger(type: PrimitiveType, conversion: Conversion | null, context: ConvertContext): Convert {
  const { int, bigint } = conversion ?? {};
  const plain = type.kind === "long" ? int64For(context.values) : (value: number | bigint) => value;
  const range = integerRange(type, context.isRanged);
  return (value) => {
    const whole =
      typeof value === "number" || typeof value === "bigint" ? value : value instanceof NumberText ? wholeNumber(value.text) : null;
    if (whole === null) {
      return mismatch("an integer");
    }
    if (range !== null && (whole < range.min || whole > range.max)) {
      throw new DecodeError(
        "value-invalid",
        `expected an integer of ${range.bits} bits as its schema declares, found one out of this range; check whether the message was written with another schema`,
      );
    }
    // Adding zero turns -0 into 0, because integers of a database have no signed zero.
    return typeof whole === "number" ? (int ?? plain)(whole + 0) : (bigint ?? plain)(whole);
  };
}

/** The range of an integer type; null if its schema sets no bounds. */
export function integerRange({ kind, bits }: PrimitiveType, isRanged: boolean): IntegerRange | null {
  if (kind === "int") {
    return rangeOf(bits ?? 32);
  }
  return isRanged ? rangeOf(64) : null;
}

/** Converts an int64 to the form that the options choose. */
export function int64For(values: ResolvedValueOptions): (value: number | bigint) => unknown {
  switch (values.int64) {
    case "safe":
      return (value) => value;
    case "bigint":
      return BigInt;
    case "string":
      return String;
  }
}

function compileDouble(kind: "float" | "double", conversion: Conversion | null): Convert {
  const convert = conversion?.double;
  return (value) => {
    const wide = asDouble(value);
    const double = kind === "float" ? Math.fround(wide) : wide;
    if (!Number.isFinite(double) && Number.isFinite(wide)) {
      throw new DecodeError("value-invalid", "expected a number in a float's range, found one out of this range");
    }
    return convert === undefined ? double : convert(double);
  };
}

function compileText(conversion: Conversion | null): Convert {
  const convert = conversion?.text;
  return (value) => {
    if (typeof value !== "string") {
      return mismatch("a string");
    }
    return convert === undefined ? value : convert(value);
  };
}

function compileBytes(conversion: Conversion | null): Convert {
  const { bytes, int, bigint, numberText } = conversion ?? {};
  return (value) => {
    if (typeof value === "string") {
      const buffer = fromBase64(value);
      return bytes === undefined ? buffer : bytes(buffer, 0, buffer.length);
    }
    // Connect's decimal.format=NUMERIC writes decimals as JSON numbers.
    if (typeof value === "number" && int !== undefined) {
      return int(value);
    }
    if (typeof value === "bigint" && bigint !== undefined) {
      return bigint(value);
    }
    if (value instanceof NumberText && numberText !== undefined) {
      return numberText(value.text);
    }
    return mismatch("base64 text");
  };
}

function compileArray(items: Type, conversion: Conversion | null, context: ConvertContext): Convert {
  const convertItem = compileConvert(items, context);
  const convert = conversion?.array;
  return (value) => {
    if (!Array.isArray(value)) {
      return mismatch("an array");
    }
    const array = convertItems([...(value as unknown[])], convertItem);
    return convert === undefined ? array : convert(array);
  };
}

function compileMap(keys: Type | null, values: Type, context: ConvertContext): Convert {
  const convertValue = compileConvert(values, context);
  if (keys === null) {
    return (value) => {
      const map: Record<string, unknown> = Object.create(null); // without prototype, so that no key meets an inherited property
      for (const [name, item] of Object.entries(asObject(value))) {
        map[name] = convertValue(item);
      }
      return map;
    };
  }
  const convertKey = compileConvert(keys, context);
  const areTexts = withoutNull(keys).kind === "string"; // also if optional: JsonConverter writes an object for those too
  return (value) => {
    if (areTexts && isJsonObject(value)) {
      return new Map(Object.keys(value).map((name) => [convertKey(name), convertValue(value[name])]));
    }
    if (!Array.isArray(value)) {
      return mismatch("an array of pairs");
    }
    return new Map(
      value.map((pair: unknown) => {
        const [key, item] = pairOf(pair) ?? mismatch("pairs");
        return [convertKey(key), convertValue(item)];
      }),
    );
  };
}

/** The key and the value of a pair. JsonConverter writes a list of two, JsonSchemaConverter an object. Null if it is neither. */
function pairOf(pair: unknown): readonly unknown[] | null {
  if (Array.isArray(pair)) {
    return pair.length === 2 ? pair : null;
  }
  return isJsonObject(pair) && Object.hasOwn(pair, "key") && Object.hasOwn(pair, "value") ? [pair["key"], pair["value"]] : null;
}

function asObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : mismatch("an object");
}

function compileRecord(type: RecordType, conversion: Conversion | null, context: ConvertContext): Convert {
  const known = context.records.get(type);
  if (known !== undefined) {
    return known;
  }
  let compiled: Convert | null = null;
  context.records.set(type, (value) => compiled?.(value)); // `compiled` is set before any value is converted
  compiled = compileFields(type, conversion, context);
  context.records.set(type, compiled);
  return compiled;
}

/** Whether a conversion makes one value of a record: a decimal of its scale and its unscaled integer. */
export function isOneValue({ semantic }: RecordType, { values, parseJson }: ConvertContext): boolean {
  return semantic !== undefined && conversionFor(semantic, values, parseJson)?.struct !== undefined;
}

function compileFields(type: RecordType, conversion: Conversion | null, context: ConvertContext): Convert {
  const struct = conversion?.struct;
  // A struct that becomes one value (a point, a decimal with its own scale) is converted from its raw parts.
  const isRaw = struct === undefined || context.values.int64 === "safe";
  const inner = isRaw ? context : { ...context, values: rawValues(context.values), records: new Map<RecordType, Convert>() };
  const compile = (field: Field): Convert => compileConvert(field.type, inner);
  const convert = recordConvert(type.fields, compile, compileAny(undefined, inner));
  return struct === undefined ? convert : (value) => struct(convert(value) as Record<string, unknown>);
}

function rawValues(values: ResolvedValueOptions): ResolvedValueOptions {
  return { ...values, int64: "safe" };
}

/**
 * Converts a record from its columns, in the schema's order. Properties that the schema does not have follow, unchanged. A column is
 * compiled when its first value comes, because a message's own schema may have thousands of columns without values.
 */
export function recordConvert(fields: readonly Field[], compile: (field: Field) => Convert, extra: Convert): Convert {
  if (fields.length === 0) {
    return extra === asItIs ? (value) => asObject(value) : (value) => convertFields(asObject(value), extra);
  }
  const places = new Map(fields.map(({ name }, i) => [name, i]));
  const converts: (Convert | undefined)[] = [];
  const all = fields.map((_, i) => i);
  const withOthers = (record: Record<string, unknown>, object: Record<string, unknown>, names: readonly string[]): unknown => {
    for (const name of names) {
      if (!places.has(name)) {
        setProperty(record, name, extra(object[name]));
      }
    }
    return record;
  };
  return (value) => {
    const object = asObject(value);
    const names = Object.keys(object);
    const record: Record<string, unknown> = {};
    const isSparse = names.length < fields.length / 4;
    let others = names.length;
    let name = "";
    try {
      for (const place of isSparse ? placesOf(names, places) : all) {
        const field = fields[place] as Field; // places are indexes of fields
        ({ name } = field);
        if (Object.hasOwn(object, name)) {
          const convert = (converts[place] ??= compile(field));
          setProperty(record, name, convert(object[name]));
          others--;
        }
      }
    } catch (error) {
      throw inField(error, name);
    }
    return others === 0 ? record : withOthers(record, object, names);
  };
}

/**
 * The columns that an object has, in their order. If it has few names, only those are looked up: a row of one column must not cost a
 * thousand lookups.
 */
function placesOf(names: readonly string[], places: ReadonlyMap<string, number>): number[] {
  const found = names.map((name) => places.get(name)).filter((place) => place !== undefined);
  return found.sort((one, other) => one - other);
}

/**
 * JSON's own types: integers are exact, other numbers have the form that `numbers` chooses. A hinted semantic type applies to any value.
 */
export function compileAny(semantic: Semantic | undefined, context: ConvertContext): Convert {
  const { numbers } = context.values;
  const int64 = int64For(context.values);
  const conversion = semantic === undefined ? null : conversionFor(semantic, context.values, context.parseJson);
  const convert: Convert = (value) => {
    if (typeof value === "number" || typeof value === "bigint") {
      return int64(value);
    }
    if (value instanceof NumberText) {
      return numbers === "exact" ? value.text : finite(value.text);
    }
    if (Array.isArray(value)) {
      return convertItems(value, convert);
    }
    return typeof value === "object" && value !== null ? convertFields(value as Record<string, unknown>, convert) : value;
  };
  if (conversion === null) {
    return context.isFinal === true ? asItIs : convert;
  }
  return (value) => (isCell(value) ? hintedCell(value, conversion, convert) : hinted(value, conversion, convert));
}

type Cell = Record<string, unknown> & { value: unknown; set: unknown };

/** Whether a column is in a wrapper, which says beside its value whether it was set. No semantic type has a struct with these members. */
function isCell(value: unknown): value is Cell {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "value") && Object.hasOwn(value, "set");
}

/** A hint is about the value of a column, and not about its wrapper. */
function hintedCell(cell: Cell, conversion: Conversion, convert: Convert): unknown {
  const { value } = cell;
  cell.value = null;
  convert(cell);
  cell.value = hinted(value, conversion, convert);
  return cell;
}

function asItIs(value: unknown): unknown {
  return value;
}

// No other code holds the parsed value, so it is converted in place. A copy would let hostile JSON cost twice.

function convertItems(items: unknown[], convert: Convert): unknown[] {
  let i = 0;
  try {
    for (; i < items.length; i++) {
      items[i] = convert(items[i]);
    }
  } catch (error) {
    throw inItem(error, i);
  }
  return items;
}

/** An error does not name the member: without a schema, the name of a member may be data. */
function convertFields(object: Record<string, unknown>, convert: Convert): Record<string, unknown> {
  for (const name of Object.keys(object)) {
    const value = object[name];
    const converted = convert(value);
    if (converted !== value) {
      setProperty(object, name, converted);
    }
  }
  return object;
}

function hinted(value: unknown, conversion: Conversion, convert: Convert): unknown {
  if (typeof value === "number" && conversion.int !== undefined && Number.isInteger(value)) {
    return conversion.int(value);
  }
  if (typeof value === "bigint" && conversion.bigint !== undefined) {
    return conversion.bigint(value);
  }
  if (value instanceof NumberText && conversion.numberText !== undefined) {
    return conversion.numberText(value.text);
  }
  if (typeof value === "string") {
    return hintedText(value, conversion);
  }
  if (Array.isArray(value) && conversion.array !== undefined) {
    return conversion.array(typedItems(value));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && conversion.struct !== undefined) {
    return conversion.struct(typedFields(value as Record<string, unknown>)); // an object that is no list is a parsed JSON object
  }
  return convert(value);
}

/** The fields that hold bytes in the structs that Debezium names: the unscaled integer of a decimal, the WKB of a geometry. */
const byteFields: ReadonlySet<string> = new Set(["value", "wkb"]);

/**
 * The fields of a hinted struct in the types that a schema would declare. Conversions expect bytes and doubles; JSON has base64 and texts
 * of numbers.
 */
function typedFields(struct: Record<string, unknown>): Record<string, unknown> {
  const typed: Record<string, unknown> = {};
  for (const name of Object.keys(struct)) {
    setProperty(typed, name, typedField(name, struct[name]));
  }
  return typed;
}

function typedItems(items: readonly unknown[]): unknown[] {
  return items.map((item) => typedField("", item));
}

function typedField(name: string, field: unknown): unknown {
  if (field instanceof NumberText) {
    return finite(field.text);
  }
  if (typeof field === "string" && byteFields.has(name)) {
    return fromBase64(field);
  }
  if (Array.isArray(field)) {
    return typedItems(field); // a list of pairs is a map whose keys are no text
  }
  const isStruct = typeof field === "object" && field !== null;
  return isStruct ? typedFields(field as Record<string, unknown>) : field; // recursion is safe, because the parser limits the depth
}

function hintedText(value: string, conversion: Conversion): unknown {
  if (conversion.bytes !== undefined) {
    const bytes = fromBase64(value);
    return conversion.bytes(bytes, 0, bytes.length);
  }
  return conversion.text === undefined ? value : conversion.text(value);
}
