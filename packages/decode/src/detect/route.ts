import type { FastPathMatch } from "../encoding/fast-path.ts";
import type { WantedSchema } from "../encoding/schema-encoding.ts";
import type { Type } from "../encoding/type.ts";
import type { EnvelopeFormat, Route, Shape } from "../envelope/envelope.ts";
import type { EncodingName, FramingName } from "../event.ts";
import type { Framing, Side } from "../framing/framing.ts";
import type { MessageSelector, RegisteredSchema, SchemaId } from "../schema-source.ts";
import type { ColumnSemantics } from "./semantics/column-semantics.ts";
import type { Engine } from "./engine.ts";
import { emptyShape } from "./shape.ts";

/** What one side decoder reads, and what its user has said of it. */
export interface SideScope {
  readonly topic: string;
  readonly side: Side;
  /** The headers that its values come with, of those that envelopes are recognised by. */
  readonly headerNames: readonly string[];
  /** Framings that the records' header names announce. */
  readonly announced: readonly Framing[];
  /** The envelope that asked for this value, which is a message inside of another; null if the value is the record's own. */
  readonly inside: EnvelopeFormat | null;
  readonly semantics: ColumnSemantics;
  readonly hinted: HintedFormat;
  readonly trustsSchemas: boolean;
}

/** What the user has hinted of a side's bytes, if they cannot say it themselves. */
export interface HintedFormat extends WantedSchema {
  readonly encoding: EncodingName | null;
  readonly schemaId: SchemaId | null;
  readonly schema: RegisteredSchema | null;
  readonly message: MessageSelector | null;
  readonly isTolerant: boolean;
  /** Whether the indexes of messages count the messages that maps make; null if nobody has said it. */
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

/** How one side of a topic's records is read, once decided: the format, and the envelope that opens its values. */
export interface SideRoute extends Route {
  readonly envelopeFormat: EnvelopeFormat;
  /** Which messages are certainly written the same; null if neither their first bytes nor their reader tell. */
  readonly fastPath: FastPathMatch | null;
  /** What the envelope was recognised by. */
  readonly shape: Shape;
  /** Whether the registry keeps rules beside the schema by which producers change what they write. */
  readonly hasRuleSet: boolean;
  /** The framing that the message was first taken for, and was not of after all. */
  readonly declined: DeclinedFraming | null;
  /** The type that the schema states, or null if there is no schema. */
  readonly type: Type | null;
  /** The schema's full name, or null if there is no schema. */
  readonly typeName: string | null;
  /** The namespace of a Debezium schema that is not the topic's: the message must then belong to it by its own words. Null: nothing to check. */
  readonly namespaceToCheck: string | null;
  /** Whether the values leave out what their columns mean. */
  readonly losesSemantics: boolean;
  readonly nullIsTombstone: boolean;
}

export interface DeclinedFraming {
  readonly framing: FramingName;
  readonly why: string;
}

/** The route of values that no envelope opens: raw bytes, nothing at all. */
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
  };
}
