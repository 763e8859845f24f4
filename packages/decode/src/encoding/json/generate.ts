import { BlockMemo } from "../block-memo.ts";
import { Shapes } from "../codegen.ts";
import { otherTextSource } from "../words.ts";
import { type CompileOptions, Deferred, type DeferredField } from "../reader.ts";
import { type Field, type PrimitiveType, type RecordType, type Type, withoutNull } from "../type.ts";
import { type Convert, type ConvertContext, compileColumn, compileConvert, int64For, integerRange } from "./convert.ts";
import {
  JsonCursor,
  missed,
  readBoolean,
  readDouble,
  readInteger,
  readSimple,
  readText,
  plainScalarEnd,
  skipLong,
  skipScalar,
  skipTextOrNull,
  toFloat,
} from "./cursor.ts";
import { isLong } from "./integer-range.ts";
import { type ParseOptions, parseJson, parseNested } from "./parse.ts";
import { readBase64, readBase64Buffer, scratch } from "./read-base64.ts";
import type { Conversion } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import { jsonColumnTest } from "./unavailable-column.ts";

/** Reads a record at the cursor, or sets the cursor to {@link missed}. */
export type FastReader = (c: JsonCursor) => unknown;

/** Whether an object or a list stands at the cursor. */
const startsNested = "b[c.pos] === 123 || b[c.pos] === 91";

/** Statements that move over any scalar, and over text. */
const skipAny = "skipScalar(c);";
const skipText = "skipTextOrNull(c);";

/** The kinds of scalars that a memo remembers, if they have no conversion. */
const plainKinds: ReadonlySet<Type["kind"]> = new Set(["any", "boolean", "enum", "int", "long", "string"]);

/** Wider records are left to the slow reader, because the runtime would not optimise such large code. */
const maxGeneratedFields = 300;
/** The sender chooses the names, and each byte of a name is a comparison in the code, so the code's length is limited. */
const maxCodeChars = 262_144;
const codeCharsPerField = 150;
const codeCharsPerNameByte = 20;

/**
 * Generates a reader for text as Jackson (and `JSON.stringify`) writes a record of this type: fields in the schema's order, no white space.
 * The names are known in advance, so the reader compares bytes in place of making strings, and makes its object at once. Null if
 * the type is too wide.
 */
export function generateFastReader(
  type: RecordType,
  options: CompileOptions,
  context: ConvertContext,
  parse: ParseOptions,
): FastReader | null {
  if (countFields(type) > maxGeneratedFields) {
    return null;
  }
  const emitter = new Emitter(options, context, parse);
  const root = emitter.record(type, { isTop: true, isRow: options.plan.rows === "self" });
  return emitter.isTooLong ? null : emitter.compile(root);
}

/** Counts the fields of a type. Stops above the number for which readers are generated. */
export function countFields(type: Type, depth: number = 0): number {
  const record = withoutNull(type);
  if (record.kind !== "record" || depth > 2) {
    return 1;
  }
  let sum = 0;
  for (const field of record.fields) {
    sum += countFields(field.type, depth + 1);
    if (sum > maxGeneratedFields) {
      break; // a record may stand in very many places, so the count stops as soon as it is too high
    }
  }
  return sum;
}

interface Place {
  /** Whether the read plan names fields of this record. */
  readonly isTop: boolean;
  /** Whether the record's fields are columns of a row. */
  readonly isRow: boolean;
}

class Emitter {
  source = "";
  readonly scope: Record<string, unknown> = {
    missed,
    readBoolean,
    readDouble,
    toFloat,
    isLong,
    readInteger,
    readSimple,
    readText,
    plainScalarEnd,
    skipScalar,
    skipLong,
    skipTextOrNull,
    readBase64,
    readBase64Buffer,
    scratch,
    UNAVAILABLE,
  };
  readonly #shapes = new Shapes();
  readonly #options: CompileOptions;
  readonly #context: ConvertContext;
  readonly #parse: ParseOptions;
  readonly #records = new Map<string, string>();
  readonly #ids = new Map<RecordType, number>();
  readonly #open = new Set<RecordType>();
  readonly #lateReaders: [late: { fast: FastReader | null }, name: string][] = [];
  #count = 0;
  #codeChars = 0;

  constructor(options: CompileOptions, context: ConvertContext, parse: ParseOptions) {
    this.#options = options;
    this.#context = context;
    this.#parse = parse;
    this.scope["skipNested"] = (c: JsonCursor) => void parseNested(c, parse);
    this.scope["isUnavailableText"] = context.unavailable.text;
    this.scope["isUnavailableBytes"] = context.unavailable.bytes;
    this.scope["isUnavailableJson"] = jsonColumnTest("any", context.unavailable);
  }

  /** Whether the code is longer than allowed. If so, it is incomplete. */
  get isTooLong(): boolean {
    return this.#codeChars > maxCodeChars;
  }

  /** The function with that name, together with the functions that read deferred parts. */
  compile(root: string): FastReader {
    const names = [root, ...this.#lateReaders.map(([, name]) => name)];
    const [reader, ...late] = this.#shapes.generate(`${this.source}\nreturn [${names.join(", ")}];`, this.scope) as FastReader[];
    for (const [i, [holder]] of this.#lateReaders.entries()) {
      holder.fast = late[i] ?? null;
    }
    return reader as FastReader;
  }

  /** Emits the reader of a record, once for each type and place, and returns its name. */
  record(type: RecordType, place: Place): string {
    const key = `${this.#id(type)}/${place.isTop}/${place.isRow}`;
    const known = this.#records.get(key);
    if (known !== undefined) {
      return known;
    }
    const name = this.#name("record");
    this.#records.set(key, name);
    this.#open.add(type);
    const { skip, defer, selected } = this.#options.plan;
    const lines: string[] = [];
    const properties: [name: string, value: string][] = [];
    for (const [i, field] of type.fields.entries()) {
      if (this.isTooLong) {
        return name;
      }
      const isUnselected = place.isRow && selected?.has(field.name) === false;
      const skipped = place.isTop && skip.includes(field.name);
      if (isUnselected) {
        lines.push(this.#unselected(field.name, i === 0));
        continue;
      }
      const read = skipped
        ? skipAny
        : place.isTop && defer?.field === field.name
          ? this.#deferred(field, defer, `v${i}`)
          : this.#field(field, place, `v${i}`);
      lines.push(this.#literal(field.name, i === 0), read, "if ((p = c.pos) === missed) return null;");
      if (!skipped) {
        properties.push([field.name, `v${i}`]);
      }
    }
    this.#emit(name, lines, type.fields.length === 0, this.#shapes.make(properties));
    this.#open.delete(type);
    return name;
  }

  #id(type: RecordType): number {
    const id = this.#ids.get(type) ?? this.#ids.size;
    this.#ids.set(type, id);
    return id;
  }

  #name(what: string): string {
    return `${what}${this.#count++}`;
  }

  #constant(what: string, value: unknown): string {
    const name = this.#name(what);
    this.scope[name] = value;
    return name;
  }

  /** Emits a function around the reads of a record's fields. It returns null for null and misses any other text that is not an object. */
  #emit(name: string, lines: readonly string[], isEmpty: boolean, result: string): void {
    this.source += `
function ${name}(c) {
  const b = c.bytes, e = c.end, w = c.view, o = c.viewOffset; let p = c.pos, q = 0, n = 0, t = null;
  if (b[p] !== 123) { skipScalar(c); if (b[p] !== 110) c.pos = missed; return null; }
  ${isEmpty ? "p++;" : lines.join("\n  ")}
  if (b[p] !== 125) { c.pos = missed; return null; }
  c.pos = p + 1;
  return ${result};
}`;
  }

  /** Statements that compare the bytes of `{"name":` or `,"name":` and move over them. */
  #literal(name: string, isFirst: boolean): string {
    const bytes = Buffer.from(`${isFirst ? "{" : ","}${JSON.stringify(name)}:`, "utf8");
    this.#codeChars += codeCharsPerField + bytes.length * codeCharsPerNameByte;
    if (this.isTooLong) {
      return "";
    }
    return `q = (o + p) | 0; if (${otherTextSource(bytes, "w", "q")}) { c.pos = missed; return null; } c.pos = p + ${bytes.length};`;
  }

  /** Statements that move over a column of any type. */
  #unselected(name: string, isFirst: boolean): string {
    return `${this.#literal(name, isFirst)}
  if ((n = plainScalarEnd(c, c.pos)) !== missed) p = n;
  else { if (${startsNested}) skipNested(c); else skipScalar(c); if ((p = c.pos) === missed) return null; }`;
  }

  /** Statements that read one field into `target`. */
  #field(field: Field, place: Place, target: string): string {
    const type = withoutNull(field.type);
    const { rows } = this.#options.plan;
    if (place.isTop && rows !== "self" && rows.includes(field.name)) {
      return this.#row(type, field, target);
    }
    const fast = this.#fast(type, place.isRow, target);
    if (fast !== null) {
      return `let ${target}; ${fast}`;
    }
    // A record inside of itself is left to the parser, which limits the depth.
    if (type.kind === "record" && !place.isRow && !this.#open.has(type) && this.#conversion(type)?.struct === undefined) {
      return `const ${target} = ${this.record(type, { isTop: false, isRow: false })}(c);`;
    }
    return this.#slow(place.isRow ? compileColumn(field.type, this.#context) : compileConvert(field.type, this.#context), target);
  }

  #row(type: Type, field: Field, target: string): string {
    if (type.kind === "record") {
      return `const ${target} = ${this.record(type, { isTop: false, isRow: true })}(c);`;
    }
    // Without a schema: no object was there when the type was learned. MongoDB's documents are texts. An object must be learned first.
    return type.kind === "any" ? `const ${target} = readText(c);` : this.#slow(compileConvert(field.type, this.#context), target);
  }

  /** A field that was null when its type was learned. If it is not null now, the slow reader must read it. */
  #nullOnly(target: string): string {
    return `const ${target} = null; if (b[c.pos] === 110) skipScalar(c); else c.pos = missed;`;
  }

  /** Reads any JSON value at the cursor as the slow reader reads it. */
  #slow(convert: Convert, target: string): string {
    return `const ${target} = ${this.#constant("slow", this.#nested(convert))}(c);`;
  }

  #nested(convert: Convert): FastReader {
    const parse = this.#parse;
    return (c) => {
      const value = parseNested(c, parse);
      return c.pos === missed ? null : convert(value);
    };
  }

  /** If values have JSON's own types, a parsed value is converted only if it contains a number that a double cannot hold. */
  #nestedAny(isColumn: boolean, convert: Convert): FastReader {
    const { numbers, int64 } = this.#options.values;
    if (numbers !== "double" || int64 !== "safe") {
      return this.#nested(convert);
    }
    const parse = { ...this.#parse, asDoubles: true };
    const isUnavailable = isColumn ? jsonColumnTest("any", this.#context.unavailable) : () => false;
    return (c) => {
      const value = parseNested(c, parse);
      if (c.pos === missed || c.hasTexts) {
        return c.pos === missed ? null : convert(value);
      }
      return isUnavailable(value) ? UNAVAILABLE : value;
    };
  }

  /** The statement for a type that can be read without parsing it first, or null. */
  #fast(type: Type, isColumn: boolean, target: string): string | null {
    const conversion = this.#conversion(type);
    switch (type.kind) {
      case "boolean":
        return `${target} = readBoolean(c);`;
      case "int":
      case "long":
        return this.#integer(type as PrimitiveType, conversion?.int, conversion?.bigint, target); // all kinds of integers are primitive types
      case "float":
      case "double":
        return `t = readDouble(c); ${target} = t === null ? null : ${this.#double(type.kind, conversion?.double)};`;
      case "string":
      case "enum":
        return this.#text(conversion?.text, isColumn, target);
      case "bytes":
      case "fixed":
        return this.#bytes(conversion?.bytes, isColumn, target);
      case "any":
      case "union":
        return type.semantic === undefined ? this.#any(isColumn, target) : null;
      default:
        return null;
    }
  }

  /** Most values of schemaless JSON are short scalars. Other values are parsed. */
  #any(isColumn: boolean, target: string): string {
    const anyType: Type = { kind: "any" };
    const convert = isColumn ? compileColumn(anyType, this.#context) : compileConvert(anyType, this.#context);
    const slow = this.#constant("any", this.#nestedAny(isColumn, convert));
    const column = isColumn ? ` else if (typeof ${target} === "string" && isUnavailableJson(${target})) ${target} = UNAVAILABLE;` : "";
    // The value of the slow reader is converted already: a fraction in it must not be taken for an integer.
    const integers =
      this.#options.values.int64 === "safe"
        ? ""
        : ` else if (typeof ${target} === "number" || typeof ${target} === "bigint") ${target} = ${this.#constant("int64", int64For(this.#options.values))}(${target});`;
    return `p = c.pos; ${target} = readSimple(c); if (c.pos === missed) { c.pos = p; ${target} = ${slow}(c); }${column}${integers}`;
  }

  #conversion(type: Type): Conversion | null {
    return type.semantic === undefined ? null : conversionFor(type.semantic, this.#context.values, this.#context.parseJson);
  }

  #integer(type: PrimitiveType, int: unknown, bigint: unknown, target: string): string {
    const { kind } = type;
    const range = integerRange(type, this.#context.isRanged);
    const check = (value: string): string => (range === null ? "" : ` if (${beyond(range.bits, value)}) c.pos = missed;`);
    const plain =
      kind === "long" && this.#options.values.int64 !== "safe" ? `${this.#constant("int64", int64For(this.#options.values))}(t)` : "t";
    if (int === undefined && bigint === undefined && plain === "t") {
      return `${target} = readInteger(c);${check(target)}`;
    }
    const small = int === undefined ? plain : `${this.#constant("int", int)}(t)`;
    const large = bigint === undefined ? plain : `${this.#constant("bigint", bigint)}(t)`;
    return `t = readInteger(c);${check("t")} ${target} = t === null ? null : typeof t === "number" ? ${small} : ${large};`;
  }

  #double(kind: "float" | "double", convert: unknown): string {
    const value = kind === "float" ? "toFloat(c, t)" : "t";
    return convert === undefined ? value : `${this.#constant("double", convert)}(${value})`;
  }

  #text(convert: unknown, isColumn: boolean, target: string): string {
    const value = convert === undefined ? "t" : `${this.#constant("text", convert)}(t)`;
    const column = isColumn ? `isUnavailableText(t) ? UNAVAILABLE : ${value}` : value;
    return `t = readText(c); ${target} = t === null ? null : ${column};`;
  }

  #bytes(convert: unknown, isColumn: boolean, target: string): string {
    if (convert === undefined) {
      const buffer = isColumn ? "t !== null && isUnavailableBytes(t, 0, t.length) ? UNAVAILABLE : t" : "t";
      return `t = readBase64Buffer(c); ${target} = ${buffer};`;
    }
    const value = `${this.#constant("bytes", convert)}(scratch.bytes, 0, t)`;
    const column = isColumn ? `isUnavailableBytes(scratch.bytes, 0, t) ? UNAVAILABLE : ${value}` : value;
    return `t = readBase64(c); ${target} = t < 0 ? null : ${column};`;
  }

  /** Statements that move over the deferred record, and read the fields that the plan peeks at. */
  #deferred(field: Field, defer: DeferredField, target: string): string {
    const type = withoutNull(field.type);
    if (type.kind !== "record") {
      return this.#nullOnly(target);
    }
    const peeked = defer.peek.map((name) =>
      type.fields.some((inner) => inner.name === name) ? `peek${defer.peek.indexOf(name)}` : "undefined",
    );
    const memo = this.#constant(
      "memo",
      new BlockMemo(
        type.fields.map((inner) => this.#isPlain(inner)),
        "text",
      ),
    );
    const lines = type.fields.map((inner, i) => this.#unlessSame({ inner, i, at: defer.peek.indexOf(inner.name), memo }));
    const texts = peeked.flatMap((name, at) => (name === "undefined" ? [] : [`${name} = ${memo}.texts[${at}]`]));
    const resolve = this.#constant("resolve", defer.resolve);
    const read = this.#constant("read", this.#deferredRead(type));
    this.scope["Deferred"] = Deferred;
    const skip = this.#name("deferred");
    const body = [
      `const start = p; let i = ${memo}.begin(b, p, e), head = ${memo}.head; p = ${memo}.pos;`,
      `if (i < ${lines.length}) { let ${["f", ...texts].join(", ")};`,
      ...lines,
      `if (head === undefined) ${memo}.keepHead(head = ${resolve}([${peeked.join(", ")}])); }`,
    ];
    this.#emit(skip, body, false, `new Deferred(head, ${read}, b, start, p + 1)`);
    return `const ${target} = ${skip}(c);`;
  }

  /**
   * Statements that move over a field that is read late. They are as strict as reading it, so that a bad record fails when it is decoded.
   */
  #judged(field: Field, target: string): string {
    const type = withoutNull(field.type);
    if (type.kind === "any" && type.semantic === undefined) {
      return skipAny;
    }
    if (this.#conversion(type) === null) {
      switch (type.kind) {
        case "string":
        case "enum":
          return skipText;
        case "long":
          return this.#context.isRanged ? "skipLong(c);" : "readInteger(c);";
        case "boolean":
          return "readBoolean(c);";
        default:
      }
    }
    return this.#field(field, { isTop: false, isRow: false }, target);
  }

  /** Whether a field is a scalar whose bytes are judged equally in every message. A conversion may charge the message for what it parses. */
  #isPlain(field: Field): boolean {
    const type = withoutNull(field.type);
    return plainKinds.has(type.kind) && this.#conversion(type) === null;
  }

  /**
   * Statements that move over a field of a deferred record if it must be read, because it is not the same as in an earlier message. They read its
   * text if the plan peeks at it.
   */
  #unlessSame({ inner, i, at, memo }: { readonly inner: Field; readonly i: number; readonly at: number; readonly memo: string }): string {
    const skip = this.#judged(inner, `s${i}`);
    const isText = at >= 0 && (skip === skipAny || skip === skipText);
    const read = isText ? `${memo}.keepText(${at}, peek${at} = readText(c)); head = undefined;` : skip;
    return `if (i === ${i}) { f = p; ${this.#literal(inner.name, i === 0)} ${read} if (c.pos === missed) return null;
    ${memo}.keep(b, f, c.pos, ${i}); i = ${memo}.next(b, c.pos, e, ${i + 1}); p = ${memo}.pos; }`;
  }

  /** Makes the reader of a deferred part. It tries the fast reader first: the skip has already checked the spelling of the text. */
  #deferredRead(type: RecordType): (bytes: Uint8Array, start: number, end: number) => unknown {
    const convert = compileConvert(type, this.#context);
    const parse = this.#parse;
    const cursor = new JsonCursor();
    const late: { fast: FastReader | null } = { fast: null };
    this.#lateReaders.push([late, this.record(type, { isTop: false, isRow: false })]);
    return (bytes, start, end) => {
      const value = late.fast === null ? null : cursor.read(late.fast, bytes, start, end);
      return value !== null && cursor.pos === end ? value : convert(parseJson(bytes, start, end, parse));
    };
  }
}

/**
 * A test whether a value is out of the range of this many bits. It then misses, and the slow reader throws the error. A number that is
 * exact has at most 64 bits.
 */
function beyond(bits: number, value: string): string {
  if (bits === 64) {
    return `typeof ${value} === "bigint" && !isLong(${value})`;
  }
  const cut = bits === 32 ? `${value} | 0` : `${value} << ${32 - bits} >> ${32 - bits}`;
  return `typeof ${value} === "number" ? (${cut}) !== ${value} : ${value} !== null`;
}
