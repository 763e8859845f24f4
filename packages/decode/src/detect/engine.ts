import { codeGenerationAllowed } from "../encoding/codegen.ts";
import type { ParseOptions } from "../encoding/json/parse.ts";
import { convertContext } from "../encoding/json/reader.ts";
import { type CompileOptions, type ReadPlan, readEverything } from "../encoding/reader.ts";
import { TextCache } from "../encoding/text-cache.ts";
import { debezium } from "../envelope/debezium/envelope.ts";
import type { EnvelopeFormat, Shape } from "../envelope/envelope.ts";
import { flattened } from "../envelope/flattened/envelope.ts";
import { none } from "../envelope/none/envelope.ts";
import type { ResolvedLimits, ResolvedValueOptions } from "../options.ts";
import type { SchemaSource } from "../schema-source.ts";

/** Most specific first: the first that recognises itself wins, and the last one always does. */
export const envelopes: readonly EnvelopeFormat[] = [debezium, flattened, none];

/** The envelope that a value of this shape is in. */
export function envelopeFor(shape: Shape): EnvelopeFormat {
  return envelopes.find((envelope) => envelope.recognise(shape) !== null) ?? none;
}

/** What all topics of one decoder share. */
export class Engine {
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  readonly schemas: SchemaSource | null;
  readonly texts: TextCache = new TextCache();
  readonly parse: ParseOptions;
  readonly codeGeneration: boolean;
  /** JSON text inside of a value, without rounding its numbers. */
  readonly parseJson: (text: string) => unknown;
  #lastBytes: Uint8Array | null = null;
  #lastBuffer: Buffer = Buffer.alloc(0);

  constructor(values: ResolvedValueOptions, limits: ResolvedLimits, schemas: SchemaSource | null) {
    this.values = values;
    this.limits = limits;
    this.schemas = schemas;
    this.parse = { maxDepth: limits.maxDepth, texts: this.texts };
    this.codeGeneration = codeGenerationAllowed();
    this.parseJson = convertContext(this.compileOptions(readEverything), this.parse).parseJson;
  }

  /**
   * The bytes as a Buffer, in place: readers slice with its methods. A driver that hands over plain Uint8Arrays costs one view for each
   * array, not for each record; one array is kept, for all topics together.
   */
  buffer(bytes: Uint8Array): Buffer {
    if (bytes instanceof Buffer) {
      return bytes;
    }
    if (this.#lastBytes !== bytes) {
      this.#lastBytes = bytes;
      this.#lastBuffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.#lastBuffer;
  }

  compileOptions(plan: ReadPlan): CompileOptions {
    return { values: this.values, limits: this.limits, plan, codeGeneration: this.codeGeneration, texts: this.texts };
  }
}
