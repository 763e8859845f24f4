import { resolveLimits, resolveValueOptions } from "../../options.ts";
import type { RegisteredSchema } from "../../schema-source.ts";
import type { SchemaSeen } from "../../schema-seen.ts";
import { Engine } from "../engine.ts";
import { type Formats, formatsWith } from "../formats.ts";
import { SideOpening } from "../openings.ts";
import { load, pendingEncoding } from "../pending.ts";
import { noHints } from "../route.ts";
import { ColumnSemantics } from "../semantics/column-semantics.ts";

/**
 * Describes a registered schema of a topic's keys or values without any message. Rejects with the `DecodeError` that the schema causes if
 * it cannot be used.
 */
export async function describeSchema(
  registered: RegisteredSchema,
  { topic, side, formats }: { readonly topic: string; readonly side: "key" | "value"; readonly formats?: Partial<Formats> },
): Promise<SchemaSeen> {
  const engine = new Engine({
    values: resolveValueOptions(),
    limits: resolveLimits(),
    schemas: null,
    formats: formatsWith(formats),
    validation: null,
    onSchema: null,
    selectColumns: null,
    learn: { keys: false, schemaChanges: null },
  });
  const encoding = engine.schemaEncoding(registered.schemaType, undefined);
  const failure = encoding.isLoaded?.() === false ? await load(engine, pendingEncoding(encoding)) : null;
  const type = failure === null ? encoding.parse(registered, engine.limits).typeOf(null) : null;
  if (type === null) {
    throw failure ?? new TypeError("expected a schema that describes messages, found one without any");
  }
  const scope = {
    topic,
    side,
    headerNames: [],
    announced: [],
    outerEnvelope: null,
    semantics: new ColumnSemantics(),
    hinted: noHints,
    trustsSchemas: true,
    selection: null,
  };
  const { envelopeFormat, row } = new SideOpening(engine, scope, { type });
  return { topic, side, table: null, schemaId: registered.id, encoding: encoding.name, envelope: envelopeFormat.name, type, row };
}
