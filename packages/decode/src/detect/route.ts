import type { FastPathMatch } from "../encoding/fast-path.ts";
import type { RowSelection } from "../encoding/row-selection.ts";
import type { WantedSchema } from "../encoding/schema-encoding.ts";
import type { Type } from "../encoding/type.ts";
import type { EnvelopeFormat, Route, Shape } from "../envelope/envelope.ts";
import type { EncodingName, FramingName } from "../event.ts";
import type { Framing, Side } from "../framing/framing.ts";
import type { MessageSelector, RegisteredSchema, SchemaId } from "../schema-source.ts";
import type { ColumnSemantics } from "./semantics/column-semantics.ts";
import type { Engine } from "./engine.ts";
import type { SchemaReport } from "./schema-report.ts";
import { emptyShape } from "./shape.ts";

/** What one side decoder reads, and what the user has hinted about it. */
export interface SideScope {
  readonly topic: string;
  readonly side: Side;
  /** The headers of its records, limited to those that envelopes are recognised by. */
  readonly headerNames: readonly string[];
  /** Framings that are announced by header names of the record. */
  readonly announced: readonly Framing[];
  /** The envelope that this value was found in, if it is a message inside of another one. Null if the value is the record's own. */
  readonly outerEnvelope: EnvelopeFormat | null;
  readonly semantics: ColumnSemantics;
  readonly hinted: HintedFormat;
  readonly trustsSchemas: boolean;
  /** Which columns of rows are read. Null: all. */
  readonly selection: RowSelection | null;
}

/** What the user has hinted about the bytes of one side. */
export interface HintedFormat extends WantedSchema {
  readonly encoding: EncodingName | null;
  readonly schemaId: SchemaId | null;
  readonly schema: RegisteredSchema | null;
  readonly message: MessageSelector | null;
  readonly isTolerant: boolean;
  /** Whether message indexes count the messages that map fields make. Null if there is no hint. */
  readonly countsMapEntries: boolean | null;
}

export const noHints: HintedFormat = {
  encoding: null,
  schemaId: null,
  schema: null,
  readerSchema: null,
  unescapesNames: false,
  message: null,
  isTolerant: false,
  countsMapEntries: null,
};

/** How one side of a topic's records is read: its format, and the envelope that opens its values. */
export interface SideRoute extends Route {
  readonly envelopeFormat: EnvelopeFormat;
  /** Which messages certainly have the same route. Null if neither their first bytes nor their reader can tell. */
  readonly fastPath: FastPathMatch | null;
  readonly shape: Shape;
  /** Whether the registry keeps rules beside the schema by which producers change what they write. */
  readonly hasRuleSet: boolean;
  /** The framing that claimed the message first, and that the message turned out not to have. */
  readonly declined: DeclinedFraming | null;
  /** The type that the schema states. Null if there is no schema. */
  readonly type: Type | null;
  /** The full name of the schema. Null if there is no schema. */
  readonly typeName: string | null;
  /**
   * The namespace of a Debezium schema that is not the namespace of the topic. The message must then name a table of this namespace. Null
   * if there is nothing to check.
   */
  readonly namespaceToCheck: string | null;
  /** Whether the values do not say what their columns mean. */
  readonly losesSemantics: boolean;
  readonly nullIsTombstone: boolean;
  /** Reports the schema to the listener. Null if there is no schema, or no listener. */
  readonly report: SchemaReport | null;
}

export interface DeclinedFraming {
  readonly framing: FramingName;
  readonly why: string;
}

/** The route of values that no envelope opens: raw bytes, or no value at all. */
export function rawRoute({ noFraming, noEnvelope }: Engine, encoding: EncodingName, framing: FramingName = noFraming.name): SideRoute {
  return {
    framing,
    encoding,
    envelope: noEnvelope.name,
    schemaId: null,
    envelopeFormat: noEnvelope,
    fastPath: null,
    shape: emptyShape({ topic: "", headerNames: [] }),
    hasRuleSet: false,
    declined: null,
    type: null,
    typeName: null,
    namespaceToCheck: null,
    losesSemantics: true,
    nullIsTombstone: false,
    report: null,
  };
}
