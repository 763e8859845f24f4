import { Buffer } from "node:buffer"; // imported, because the global of that name is a getter, which would be called for each record
import type { ColumnSelector } from "../column-selector.ts";
import { codeGenerationAllowed, type Maker } from "../encoding/codegen.ts";
import type { ParseOptions } from "../encoding/json/parse.ts";
import { convertContext } from "../encoding/json/reader.ts";
import { EmbeddedJsonCost } from "../encoding/json/cost.ts";
import { type CompileOptions, type ReadPlan, readEverything } from "../encoding/reader.ts";
import type { SchemaEncoding } from "../encoding/schema-encoding.ts";
import type { EnvelopeFormat, Shape } from "../envelope/envelope.ts";
import { keepingExtra } from "../envelope/extra.ts";
import { DecodeError } from "../errors.ts";
import type { EncodingName } from "../event.ts";
import type { ResolvedLimits, ResolvedValidation, ResolvedValueOptions } from "../options.ts";
import { chosenTiers, type Tiers } from "../tiers.ts";
import type { SchemaListener } from "../schema-seen.ts";
import type { SchemaSource, SchemaType } from "../schema-source.ts";
import type { Framing } from "../framing/framing.ts";
import type { AllFormats } from "./formats.ts";
import { FramingOrder } from "./framing-order.ts";
import type { SemanticsSources } from "./semantics/column-semantics.ts";

export interface EngineOptions {
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  readonly schemas: SchemaSource | null;
  readonly formats: AllFormats;
  readonly validation: ResolvedValidation | null;
  readonly onSchema: SchemaListener | null;
  readonly learn: Pick<SemanticsSources, "keys" | "schemaChanges">;
  readonly selectColumns: ((topic: string) => ColumnSelector | null) | null;
}

/** What all topics of one decoder share. */
export class Engine {
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  readonly schemas: SchemaSource | null;
  readonly formats: AllFormats;
  readonly framingOrder: FramingOrder;
  /** The framing of messages without a frame. */
  readonly noFraming: Framing;
  /** The envelope of values that no other envelope recognises. */
  readonly noEnvelope: EnvelopeFormat;
  readonly validation: ResolvedValidation | null;
  readonly onSchema: SchemaListener | null;
  readonly learn: SemanticsSources;
  readonly selectColumns: ((topic: string) => ColumnSelector | null) | null;
  /** Every header name that some envelope is recognised by, each once. */
  readonly envelopeHeaders: readonly string[];
  readonly tiers: Tiers = chosenTiers();
  /** The code that fast paths of all topics share, by the kind of their records. */
  readonly sharedFastPaths: Map<string, Maker> = new Map();
  /** How many fast paths have had code of their own. */
  ownFastPaths = 0;
  /** The budget of the message that is being read. */
  readonly embeddedJsonBudget: EmbeddedJsonCost = new EmbeddedJsonCost();
  readonly parse: ParseOptions;
  readonly codeGeneration: boolean;
  /** Reads JSON text inside of a value without rounding its numbers. */
  readonly parseJson: (text: string) => unknown;
  readonly #envelopes: ReadonlyMap<string, EnvelopeFormat>;
  #lastBytes: Uint8Array | null = null;
  #lastBuffer: Buffer = Buffer.alloc(0);

  constructor({ values, limits, schemas, formats, validation, onSchema, learn, selectColumns }: EngineOptions) {
    this.values = values;
    this.limits = limits;
    this.schemas = schemas;
    this.formats = formats;
    this.framingOrder = new FramingOrder(formats);
    this.noFraming = formats.framings.at(-1) as Framing; // the last entries of both lists are built in
    this.noEnvelope = formats.envelopes.at(-1) as EnvelopeFormat;
    this.#envelopes = new Map(formats.envelopes.toReversed().map((envelope) => [envelope.name, envelope]));
    this.envelopeHeaders = [...new Set(formats.envelopes.flatMap(({ headerNames }) => headerNames ?? []))];
    this.parse = { maxDepth: limits.maxDepth };
    this.codeGeneration = codeGenerationAllowed();
    this.validation = validation;
    this.onSchema = onSchema;
    this.selectColumns = selectColumns;
    this.learn = { ...learn, holdFor: (event) => this.#envelopes.get(event.envelope)?.sharesSemantics?.(event) === true };
    this.parseJson = convertContext(this.compileOptions(readEverything), this.parse).parseJson;
  }

  /**
   * The bytes as a Buffer, without a copy, because readers slice with its methods. If a driver hands over plain Uint8Arrays, one view is
   * created for each array, not for each record. The last array is remembered for all topics together.
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
    const { limits, embeddedJsonBudget } = this;
    const codeGeneration = this.codeGeneration && this.tiers.generatedReaders;
    const values = plan.numbers === undefined ? this.values : { ...this.values, numbers: plan.numbers };
    return { values, limits, plan, codeGeneration, embeddedJsonBudget, validation: this.validation };
  }

  /** The envelope of a value of this shape. */
  envelopeFor(shape: Shape): EnvelopeFormat {
    const { envelopes } = this.formats;
    const found = envelopes.find((envelope) => envelope.recognise(shape) !== null) ?? this.noEnvelope;
    return keepingExtra(found, shape);
  }

  /** The encoding of messages whose schema is of this type. `announced` is the encoding that the framing names, if it names one. */
  schemaEncoding(schemaType: SchemaType, announced: EncodingName | undefined): SchemaEncoding {
    const found = this.formats.schemaEncodings.find(
      (encoding) => encoding.schemaType === schemaType && (announced === undefined || encoding.name === announced),
    );
    if (found === undefined) {
      const known = [...new Set(this.formats.schemaEncodings.map((encoding) => encoding.schemaType))].join(", ");
      throw new DecodeError(
        "unsupported-format",
        `expected a schema of a type that can be read (${known}), found ${announced ?? schemaType}`,
      );
    }
    return found;
  }
}
