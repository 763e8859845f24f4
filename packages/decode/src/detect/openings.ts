import type { Opening, Openings, Outline, ReadAs } from "../encoding/opening.ts";
import type { ReadPlan } from "../encoding/reader.ts";
import type { RowSelection, SelectableRows } from "../encoding/row-selection.ts";
import { recordName, type Type } from "../encoding/type.ts";
import type { EnvelopeFormat, Shape } from "../envelope/envelope.ts";
import { hintedKeyPlan, keyColumnsOf, keyPlan } from "../envelope/key-plan.ts";
import type { FramingName } from "../event.ts";
import type { SchemaId } from "../schema-source.ts";
import type { Engine } from "./engine.ts";
import type { SideRoute, SideScope } from "./route.ts";
import { rowTypeOf } from "./row-type.ts";
import { SchemaReport } from "./schema-report.ts";
import { hintedRow } from "./semantics/hinted-row.ts";
import { shapeOf } from "./shape.ts";

/** What the schema reader knows of messages in addition to how they are read. */
export interface NamedAs {
  readonly framing: FramingName;
  readonly schemaId: SchemaId;
  readonly hasRuleSet: boolean;
  readonly namespaceToCheck: string | null;
  readonly losesSemantics: boolean;
  /** Of this schema, however often it is compiled. */
  readonly report: SchemaReport | null;
}

/** Finds the envelope of one side's values, and makes the routes that they are read by. */
export class SideOpenings implements Openings<SideRoute> {
  readonly #engine: Engine;
  readonly #scope: SideScope;

  constructor(engine: Engine, scope: SideScope) {
    this.#engine = engine;
    this.#scope = scope;
  }

  openingFor(outline: Outline): SideOpening {
    return new SideOpening(this.#engine, this.#scope, outline);
  }
}

/** How the values of one schema or shape are opened. */
export class SideOpening implements Opening<SideRoute>, SelectableRows {
  readonly shape: Shape;
  readonly envelopeFormat: EnvelopeFormat;
  readonly plan: ReadPlan;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #type: Type | null;

  constructor(engine: Engine, scope: SideScope, outline: Outline) {
    this.#engine = engine;
    this.#scope = scope;
    this.#type = outline.type;
    this.shape = shapeOf(outline, scope);
    const isKey = scope.side === "key";
    this.envelopeFormat = isKey ? engine.noEnvelope : (scope.outerEnvelope ?? engine.envelopeFor(this.shape));
    this.plan = isKey ? (scope.semantics.hinted.size > 0 ? hintedKeyPlan : keyPlan) : this.envelopeFormat.planFor(this.shape);
  }

  get selection(): RowSelection {
    return this.#scope.selection as RowSelection; // asked only if `selectable` is not null
  }

  get selectable(): SelectableRows | null {
    return this.#scope.selection === null ? null : this;
  }

  /** Columns of the envelope's own are always read. */
  planFor(columns: ReadonlySet<string>): ReadPlan {
    const { isMetaColumn } = this.envelopeFormat;
    const names = this.shape.fields ?? [];
    const isMixed = this.plan.rows === "self" && isMetaColumn !== undefined;
    const selected = isMixed ? { has: (name: string) => columns.has(name) || isMetaColumn(name, names) } : columns;
    return { ...this.plan, selected };
  }

  /** The type of the rows in the values. For keys, the type of the key itself. Null if there are no rows. */
  get row(): Type | null {
    const type = this.#type;
    return type === null ? null : this.#scope.side === "key" ? keyColumnsOf(type) : rowTypeOf(type, this.plan, this.envelopeFormat);
  }

  /** The route of messages that name a schema, or that carry everything that reading them takes. */
  routeOf({ encoding, fastPath, nullIsTombstone }: ReadAs, named: NamedAs | null = null): SideRoute {
    const type = this.#type;
    return {
      framing: named?.framing ?? this.#engine.noFraming.name,
      encoding,
      envelope: this.envelopeFormat.name,
      schemaId: named?.schemaId ?? null,
      envelopeFormat: this.envelopeFormat,
      fastPath,
      shape: this.shape,
      hasRuleSet: named?.hasRuleSet ?? false,
      declined: null,
      type,
      typeName: type === null ? null : recordName(type),
      namespaceToCheck: named?.namespaceToCheck ?? null,
      losesSemantics: named?.losesSemantics ?? type === null,
      nullIsTombstone,
      report: named === null ? this.reportOf({ encoding, schemaId: null, losesSemantics: false }) : named.report,
    };
  }

  /**
   * What reports the schema to the listener; null if nothing does. The schema of a message inside of another one is not reported: the listener
   * hears of the outer message.
   */
  reportOf({ encoding, schemaId, losesSemantics }: Pick<SideRoute, "encoding" | "schemaId" | "losesSemantics">): SchemaReport | null {
    const { topic, side, outerEnvelope, semantics } = this.#scope;
    const { onSchema, limits } = this.#engine;
    const type = this.#type;
    if (type === null || outerEnvelope !== null || onSchema === null) {
      return null;
    }
    const envelope = this.envelopeFormat.name;
    const rowSeen = (): Type | null => (this.row !== null && losesSemantics ? hintedRow(this.row, semantics.hinted) : this.row);
    return new SchemaReport(onSchema, limits.maxSchemas, () => ({ topic, side, schemaId, encoding, envelope, type, row: rowSeen() }));
  }
}
