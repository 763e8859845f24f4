import { setProperty } from "../../set-property.ts";
import type { EncodingName } from "../../event.ts";
import type { ResolvedLimits } from "../../options.ts";
import { type CompileOptions, Deferred, type DeferredField, type PayloadReader, type ReadPlan } from "../reader.ts";
import { type Type, withoutNull } from "../type.ts";
import { unavailableTests } from "../../values/unavailable.ts";
import type { CompileBudget } from "../compile-budget.ts";
import { fastPathMiss } from "../fast-path.ts";
import {
  type Convert,
  type ConvertContext,
  compileAny,
  compileColumn,
  compileConvert,
  isOneValue,
  orOtherKind,
  recordConvert,
} from "./convert.ts";
import { JsonCursor } from "./cursor.ts";
import { countFields, generateFastReader, type FastReader } from "./generate.ts";
import { isJsonObject, type ParseOptions, parseJson } from "./parse.ts";
import { repeatedCost } from "./repeated-cost.ts";
import { checkJsonCost, type ExtraCost, minMeteredBytes } from "./cost.ts";

const noBytes = new Uint8Array(0);

/** After so many texts of its type in a row that were spelled in another way, a reader gives up. */
const maxMisses = 32;

/** The cost, in about nanoseconds, of a number's text that is kept until the type of its column says what it is. */
const keptTextCost = 800;

/**
 * Reads JSON text by a type. Generated code reads a text in place if it is spelled as a writer of the schema spells it. Any other spelling
 * of the same JSON takes the slow path and gives the same values.
 */
export class JsonReader implements PayloadReader {
  readonly encoding: EncodingName;
  readonly type: Type;
  readonly #cursor: JsonCursor;
  readonly #compile: (context: ConvertContext) => Convert;
  readonly #context: ConvertContext;
  #slow: Convert | null = null;
  #final: Convert | null = null;
  readonly #parse: ParseOptions;
  readonly #limits: ResolvedLimits;
  #extra: ExtraCost | null = null;
  // Generated when the first text is read, because values that are only converted need no code.
  #fast: FastReader | null | undefined = undefined;
  readonly #generate: () => FastReader | null;
  readonly #budget: CompileBudget | null;
  readonly #fields: number;
  #misses = 0;

  /** `isRanged`: whether an integer out of the range of its type is an error. */
  constructor(encoding: EncodingName, type: Type, options: CompileOptions & { readonly isRanged?: boolean }) {
    this.encoding = encoding;
    this.type = type;
    this.#limits = options.limits;
    this.#parse = { maxDepth: options.limits.maxDepth };
    const context = convertContext(options, this.#parse, options.isRanged);
    this.#context = context;
    this.#compile = (chosen) => compileTop(type, options.plan, chosen);
    this.#cursor = new JsonCursor();
    const record = withoutNull(type);
    this.#budget = options.codeGeneration ? (options.compileBudget ?? null) : null;
    this.#fields = this.#budget === null ? 0 : countFields(record);
    this.#generate = () =>
      options.codeGeneration && record.kind === "record" && !isOneValue(record, context)
        ? generateFastReader(record, options, context, this.#parse)
        : null;
  }

  read(bytes: Uint8Array, start: number, end: number): unknown {
    this.checkCost(bytes, start, end);
    return this.readPart(bytes, start, end);
  }

  /** Counts the cost of a whole message again with its types, because values with a known type can cost more than their text. */
  checkCost(bytes: Uint8Array, start: number, end: number): void {
    if (end - start >= minMeteredBytes) {
      this.#extra ??= { value: repeatedCost(this.type, this.#context), fraction: keptTextCost };
      checkJsonCost(bytes, start, end, this.#limits, this.#extra);
    }
  }

  /** Reads a part of a message whose cost is counted already. */
  readPart(bytes: Uint8Array, start: number, end: number): unknown {
    const value = this.readFast(bytes, start, end);
    if (value !== fastPathMiss) {
      return value;
    }
    this.countMiss();
    return this.convert(parseJson(bytes, start, end, this.#parse));
  }

  /** The value, if the text has the expected spelling to the last byte; otherwise {@link fastPathMiss}. Never throws on malformed text. */
  readFast(bytes: Uint8Array, start: number, end: number): unknown {
    if (this.#fast === undefined) {
      if (this.#budget?.take(this.#fields, end - start) === false) {
        return fastPathMiss;
      }
      this.#fast = this.#generate();
    }
    if (this.#fast === null) {
      return fastPathMiss;
    }
    const cursor = this.#cursor;
    const value = cursor.read(this.#fast, bytes, start, end);
    if (cursor.pos === end) {
      this.#misses = 0;
      return value;
    }
    return fastPathMiss;
  }

  /**
   * Counts a text of this type that {@link readFast} missed: a topic whose texts never have the expected spelling should not pay for trying.
   * A miss of a text that another reader reads says nothing.
   */
  countMiss(): void {
    if (this.#fast !== undefined && ++this.#misses >= maxMisses) {
      this.#fast = null;
    }
  }

  /** Converts a parsed value, as the slow path does. */
  convert(parsed: unknown): unknown {
    this.#slow ??= this.#compile(this.#context);
    return this.#slow(parsed);
  }

  /** Converts a value whose numbers are in their final form. Only its columns are converted. */
  convertFinal(parsed: unknown): unknown {
    this.#final ??= this.#compile({ ...this.#context, isFinal: true, records: new Map() });
    return this.#final(parsed);
  }
}

export function convertContext(options: CompileOptions, parse: ParseOptions, isRanged: boolean = false): ConvertContext {
  const context: ConvertContext = {
    values: options.values,
    limits: options.limits,
    isRanged,
    unavailable: unavailableTests(options.values.unavailablePlaceholder),
    records: new Map(),
    parseJson: (text) => {
      const bytes = Buffer.from(text, "utf8");
      if (options.embeddedJsonBudget === undefined) {
        checkJsonCost(bytes, 0, bytes.length, options.limits);
      } else {
        options.embeddedJsonBudget.check(bytes, options.limits);
      }
      return compileAny(undefined, context)(parseJson(bytes, 0, bytes.length, parse));
    },
  };
  return context;
}

/** The slow path for a whole payload. It skips, defers and treats rows as the generated reader does. */
function compileTop(type: Type, plan: ReadPlan, context: ConvertContext): Convert {
  const record = withoutNull(type);
  if (record.kind !== "record" || isOneValue(record, context)) {
    return compileConvert(type, context);
  }
  const fields = record.fields.filter((field) => !plan.skip.includes(field.name));
  const extra = plan.rows === "self" ? compileColumn({ kind: "any" }, context) : compileAny(undefined, context);
  const convert = recordConvert(fields, ({ name, type: column }) => compileTopField(name, column, plan, context), extra);
  const selected = plan.rows === "self" ? plan.selected : undefined;
  const convertRow = orOtherKind(
    record,
    isJsonObject,
    (value) => convert(onlySelected(withoutSkipped(value, plan.skip), selected)),
    context,
  );
  return (value) => (value === null ? null : convertRow(value));
}

function withoutSkipped(value: unknown, skip: readonly string[]): unknown {
  return isJsonObject(value) && skip.some((name) => Object.hasOwn(value, name)) ? only(value, (name) => !skip.includes(name)) : value;
}

/** A row without the columns that are not selected. */
function onlySelected(row: unknown, selected: ReadPlan["selected"]): unknown {
  return selected !== undefined && isJsonObject(row) ? only(row, (name) => selected.has(name)) : row;
}

function only(value: Record<string, unknown>, isKept: (name: string) => boolean): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (isKept(name)) {
      setProperty(kept, name, value[name]);
    }
  }
  return kept;
}

function compileTopField(name: string, type: Type, plan: ReadPlan, context: ConvertContext): Convert {
  if (plan.rows === "self") {
    return compileColumn(type, context);
  }
  if (plan.rows.includes(name)) {
    return compileRow(type, context, plan.selected);
  }
  return plan.defer?.field === name
    ? compileDeferred(plan.defer, type, compileConvert(type, context), context)
    : compileConvert(type, context);
}

function compileRow(type: Type, context: ConvertContext, selected: ReadPlan["selected"]): Convert {
  const record = withoutNull(type);
  const anyColumn = compileColumn({ kind: "any" }, context);
  const fields = record.kind === "record" ? record.fields : [];
  const convertRecord = recordConvert(fields, (field) => compileColumn(field.type, context), anyColumn);
  const convertOther = compileConvert(type, context);
  return (value) => (isJsonObject(value) ? convertRecord(onlySelected(value, selected)) : convertOther(value));
}

/**
 * Converts a deferred part at once, so that a value that does not fit is an error of the record. Values of JSON's own types need no
 * conversion.
 */
function compileDeferred(defer: DeferredField, type: Type, convert: Convert, context: ConvertContext): Convert {
  const record = withoutNull(type);
  const fields = record.kind === "record" ? record.fields : [];
  const isSound = context.isFinal === true && fields.every((field) => field.type.kind === "any" && field.type.semantic === undefined);
  const peek = defer.peek.filter((name) => fields.every((field) => field.name !== name || isText(field.type)));
  return (value) => {
    if (!isJsonObject(value)) {
      return convert(value);
    }
    const peeked = defer.peek.map((name) => (peek.includes(name) && Object.hasOwn(value, name) ? textOrNothing(value[name]) : undefined));
    const resolved = defer.resolve(peeked);
    if (isSound) {
      return new Deferred(resolved, () => convert(value), noBytes, 0, 0);
    }
    const converted = convert(value);
    return new Deferred(resolved, () => converted, noBytes, 0, 0);
  };
}

/** Only texts can be peeked at. Base64, and doubles that JSON writes as texts, are not texts. */
function isText(type: Type): boolean {
  const { kind } = withoutNull(type);
  return kind === "string" || kind === "any";
}

function textOrNothing(value: unknown): string | null | undefined {
  return typeof value === "string" || value === null ? value : undefined;
}
