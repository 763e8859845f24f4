import type { EncodingName } from "../event.ts";
import type { Semantic } from "../values/conversion.ts";
import type { ResolvedLimits, ResolvedValidation, ResolvedValueOptions } from "../options.ts";
import type { CompileBudget } from "./compile-budget.ts";
import type { TextCache } from "./text-cache.ts";
import type { Type } from "./type.ts";

/**
 * Reads the payloads of one schema. It accepts only what consumes every byte from `start` to `end`, and throws a `DecodeError` else.
 */
export interface PayloadReader {
  readonly encoding: EncodingName;
  /** The type that it reads, or null where the bytes carry none. */
  readonly type: Type | null;
  /** Reads in place. Nothing of `bytes` is kept but through a {@link Deferred} part. */
  read(bytes: Uint8Array, start: number, end: number): unknown;
  /** As many values as `count` says, one after another, to the last byte. Absent where the encoding cannot tell where a value ends. */
  readSequence?(bytes: Uint8Array, start: number, end: number, count: number): readonly unknown[];
}

/** What an envelope wants of the record around the rows. Compiled into the reader, so that it costs nothing per message. */
export interface ReadPlan {
  /** A top-level field that is checked for its extent only, and read when somebody asks. */
  readonly defer: DeferredField | null;
  /** Top-level fields that nobody asks for: skipped, and absent from the result. */
  readonly skip: readonly string[];
  /** Top-level fields that hold a row, in which Debezium's placeholder means UNAVAILABLE; `"self"` where the payload is the row. */
  readonly rows: readonly string[] | "self";
  /**
   * How JSON numbers with a fraction arrive where no type says more: `"exact"` as their text, for envelopes that state types beside values.
   * @default the user's `values.numbers`
   */
  readonly numbers?: "exact";
}

export interface DeferredField {
  readonly field: string;
  /** String fields of the deferred record that are read at once. */
  readonly peek: readonly string[];
  /** Called with the peeked values in the order of `peek` (undefined where there is no such field); the result is `Deferred.peeked`. */
  readonly resolve: (peeked: readonly (string | null | undefined)[]) => unknown;
}

export const readEverything: ReadPlan = Object.freeze({ defer: null, skip: [], rows: [] });

/** The semantics of columns by their names, for values whose encoding leaves them out. */
export type ColumnHints = ReadonlyMap<string, Semantic>;

export interface CompileOptions {
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  readonly plan: ReadPlan;
  /**
   * Whether readers may be generated as code. False where the runtime forbids it; closures are compiled then.
   */
  readonly codeGeneration: boolean;
  /**
   * How values are checked against the rules that their schema has beyond types (JSON Schema).
   * @default null: they are not
   */
  readonly validation?: ResolvedValidation | null;
  /**
   * Whether an Avro value that is all bytes is what it stands for: Confluent's serializers leave its length out, all others write it. Values
   * that follow one another (`readSequence`) have it always.
   * @default true
   */
  readonly bareBytes?: boolean;
  /**
   * Texts that readers remember together.
   * @default a cache of the reader's own
   */
  readonly texts?: TextCache;
  /**
   * What bounds the generating of readers of JSON whose types messages themselves state or show.
   * @default none: each is generated when its first text is read
   */
  readonly compileBudget?: CompileBudget;
  /**
   * Meters the JSON texts in the columns of one message together.
   * @default each is metered alone
   */
  readonly embeddedJsonBudget?: EmbeddedJsonBudget;
  /**
   * Bytes that a shorter message counts as where its values are metered (Protobuf).
   * @default those of 1 MiB: a message of the user's. Less where it is one of many in such a message
   */
  readonly minMeteredBytes?: number;
  /**
   * Meanings of the columns of rows by their names, for encodings whose schemas lose them (Protobuf).
   * @default none: what the schema states alone
   */
  readonly columns?: ColumnHints;
}

/** Counts what the JSON texts inside of one message cost. Throws a `DecodeError` where that is more than a message may. */
export interface EmbeddedJsonBudget {
  check(bytes: Uint8Array, limits: ResolvedLimits): void;
}

/**
 * A part of a message that is read on first access, from the bytes that it still borrows. Whoever makes one has judged the bytes as
 * far as that is cheap, or calls {@link Deferred.judge} at once; an event tells what reading them late ends in with its record's place.
 */
export class Deferred {
  /** What `DeferredField.resolve` made of the peeked fields. */
  readonly peeked: unknown;
  #read: ((bytes: Uint8Array, start: number, end: number) => unknown) | null;
  #bytes: Uint8Array | null;
  #start: number;
  #end: number;
  #value: unknown = undefined;

  constructor(
    peeked: unknown,
    read: (bytes: Uint8Array, start: number, end: number) => unknown,
    bytes: Uint8Array,
    start: number,
    end: number,
  ) {
    this.peeked = peeked;
    this.#read = read;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** The part's value. Throws its `DecodeError` each time it is asked for, where the bytes are bad. */
  get value(): unknown {
    if (this.#read !== null && this.#bytes !== null) {
      this.#value = this.#read(this.#bytes, this.#start, this.#end);
      this.#read = null;
      this.#bytes = null;
    }
    return this.#value;
  }

  /** Reads the part now. Throws the `DecodeError` that it ends in. */
  judge(): void {
    void this.value;
  }

  /** Copies the bytes of a part that was not read yet, so that it no longer borrows. */
  detach(): void {
    if (this.#bytes !== null) {
      this.#bytes = Uint8Array.prototype.slice.call(this.#bytes, this.#start, this.#end); // a Buffer's own slice would not copy
      this.#end -= this.#start;
      this.#start = 0;
    }
  }
}
