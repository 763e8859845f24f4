import type { EnvelopeFormat, Route, Shape } from "../envelope/envelope.ts";
import { none } from "../envelope/none/envelope.ts";
import type { ColumnHints } from "../encoding/json/learn.ts";
import type { EncodingName } from "../event.ts";
import type { Side } from "../framing/framing.ts";
import { emptyShape } from "./shape.ts";

/** What one side decoder reads, and what its user has said of it. */
export interface SideScope {
  readonly topic: string;
  readonly side: Side;
  /** The headers that its values come with: they can tell a flattened row from a plain one. */
  readonly headerNames: readonly string[];
  readonly hints: ColumnHints;
  readonly trustsSchemas: boolean;
}

/** How one side of a topic's records is read, once decided: the format, and the envelope that opens its values. */
export interface SideRoute extends Route {
  readonly opens: EnvelopeFormat;
  /** What the envelope was recognised by. */
  readonly shape: Shape;
  /** The schema's full name, or null where there is no schema. */
  readonly typeName: string | null;
  /** The namespace of a Debezium schema that is not the topic's: the message must then belong to it by its own words. Null: nothing to check. */
  readonly namespaceToCheck: string | null;
}

/** The route of bytes that are neither framed nor JSON. */
export function rawRoute(encoding: EncodingName): SideRoute {
  const shape = emptyShape({ topic: "", headerNames: [] });
  return { framing: "none", encoding, envelope: "none", schemaId: null, opens: none, shape, typeName: null, namespaceToCheck: null };
}
