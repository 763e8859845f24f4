import type { EncodingName } from "../event.ts";
import type { Semantic } from "../values/conversion.ts";
import type { ResolvedLimits, ResolvedValidation, ResolvedValueOptions } from "../options.ts";
import type { CompileBudget } from "./compile-budget.ts";
import type { Type } from "./type.ts";

/** Reads the payloads of one schema. A payload must take every byte from `start` to `end`; if not, a `DecodeError` is thrown. */
export interface PayloadReader {
  /** The encoding whose payloads it reads. */
  readonly encoding: EncodingName;
  /** The type of the values, or null if the bytes carry none. */
  readonly type: Type | null;
  /** Reads in place. Nothing keeps a reference to `bytes`, except a {@link Deferred} part. */
  read(bytes: Uint8Array, start: number, end: number): unknown;
  /** Reads `count` values, one after another, to the last byte. Absent if the encoding does not know where a value ends. */
  readSequence?(bytes: Uint8Array, start: number, end: number, count: number): readonly unknown[];
}

/** What an envelope needs of the record around its rows. It is compiled into the reader, so that it costs nothing per message. */
export interface ReadPlan {
  /** A top-level field of which only the length is checked. It is read on first access. */
  readonly defer: DeferredField | null;
  /** Top-level fields that are not needed: skipped, and absent from the result. */
  readonly skip: readonly string[];
  /**
   * Top-level fields that hold a row, or `"self"` if the payload is the row. The members of a row are read as columns: the hints and learned
   * semantics of columns hold for them, and Debezium's placeholder becomes UNAVAILABLE. The row after the change comes last: the last of
   * these fields that a schema has is the `row` of `describeSchema` and `onSchema`.
   */
  readonly rows: readonly string[] | "self";
  /**
   * The form of JSON numbers with a fraction if no type says more: `"exact"` keeps their text, for envelopes that declare types beside the
   * values.
   * @default the user's `values.numbers`
   */
  readonly numbers?: "exact";
  /**
   * Whether columns of rows may be left out. The envelope then makes nothing of a row but the row, or reads other columns of its own alone.
   * @default false: the envelope needs whole rows
   */
  readonly isSelectable?: boolean;
  /**
   * The columns of rows that are read, with those that belong to the envelope. All others are skipped, and absent from the rows. Set only if
   * `hasSelectableRows`.
   * @default all columns
   */
  readonly selected?: Pick<ReadonlySet<string>, "has">;
}

/** A field that is read when somebody asks for it. */
export interface DeferredField {
  /** The name of the outermost field. */
  readonly field: string;
  /** String fields of the deferred record that are read at once. */
  readonly peek: readonly string[];
  /** Called with the peeked values in the order of `peek` (undefined if there is no such field). Its result is `Deferred.peeked`. */
  readonly resolve: (peeked: readonly (string | null | undefined)[]) => unknown;
}

/** The plan that defers and skips nothing, and has no rows: `{ ...readEverything, rows: ["after"] }` names some. */
export const readEverything: ReadPlan = Object.freeze({ defer: null, skip: [], rows: [] });

/** The semantics of columns by their names, for values whose encoding does not carry them. */
export type ColumnHints = ReadonlyMap<string, Semantic>;

/** How a reader of a schema is made. */
export interface CompileOptions {
  /** How values are made, with every default filled in. */
  readonly values: ResolvedValueOptions;
  /** The bounds, with every default filled in. */
  readonly limits: ResolvedLimits;
  /** Which parts are rows, and which are skipped or deferred. */
  readonly plan: ReadPlan;
  /** Whether readers may be generated as code. If the runtime forbids it, they are made of closures. */
  readonly codeGeneration: boolean;
  /**
   * How values are checked against the rules that their schema has beyond types (JSON Schema).
   * @default null: they are not checked
   */
  readonly validation?: ResolvedValidation | null;
  /**
   * Whether an Avro payload of the type `bytes` has no length: Confluent's serializers leave it out, all others write it. Values that
   * follow one another (`readSequence`) always have it.
   * @default true
   */
  readonly bareBytes?: boolean;
  /**
   * Limits the generating of JSON readers for types that come with messages, or are learned from them.
   * @default none: each reader is generated when its first text is read
   */
  readonly compileBudget?: CompileBudget;
  /**
   * Counts the cost of all JSON texts in the columns of one message together.
   * @default each text is counted alone
   */
  readonly embeddedJsonBudget?: EmbeddedJsonBudget;
  /**
   * A shorter message has the cost budget of this many bytes (Protobuf).
   * @default 1 MiB, for a message of its own. Less if it is one of many inside of such a message
   */
  readonly minMeteredBytes?: number;
  /**
   * The semantics of rows' columns by their names, for encodings whose schemas lose them (Protobuf).
   * @default none: only those that the schema declares
   */
  readonly columns?: ColumnHints;
}

/** Counts the cost of the JSON texts inside of one message. Throws a `DecodeError` if it exceeds the budget. */
export interface EmbeddedJsonBudget {
  check(bytes: Uint8Array, limits: ResolvedLimits): void;
}

/**
 * A part of a message that is read on first access. It borrows the bytes of the message until then. The reader that makes one has checked
 * the bytes as far as that is cheap, or calls {@link Deferred.judge} at once. If a late read fails, the event adds the coordinates of its
 * record to the error.
 */
export class Deferred {
  /** The result of `DeferredField.resolve`. */
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

  /** The part's value. If the bytes are bad, each access throws the `DecodeError`. */
  get value(): unknown {
    if (this.#read !== null && this.#bytes !== null) {
      this.#value = this.#read(this.#bytes, this.#start, this.#end);
      this.#read = null;
      this.#bytes = null;
    }
    return this.#value;
  }

  /** Reads the part now. Throws its `DecodeError`. */
  judge(): void {
    void this.value;
  }

  /** Copies the bytes of a part that was not read yet, so that it no longer borrows them from the batch. */
  detach(): void {
    if (this.#bytes !== null) {
      this.#bytes = Uint8Array.prototype.slice.call(this.#bytes, this.#start, this.#end); // Uint8Array's slice copies, Buffer's does not
      this.#end -= this.#start;
      this.#start = 0;
    }
  }
}
