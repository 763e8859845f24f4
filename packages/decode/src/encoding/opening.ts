import type { EncodingName } from "../event.ts";
import type { ResolvedLimits, ResolvedValueOptions } from "../options.ts";
import type { FastPathMatch } from "./fast-path.ts";
import type { ColumnHints, CompileOptions, ReadPlan } from "./reader.ts";
import type { SelectableRows } from "./row-selection.ts";
import type { Type } from "./type.ts";

/**
 * What an encoding knows of values before they are read: the type that their messages carry, or the outermost names of the first value.
 * Detection adds the topic and the headers: that is a `Shape`, by which an envelope is recognised.
 */
export type Outline = { readonly type: Type } | { readonly type: null; readonly names: readonly string[] | null; readonly isText: boolean };

/**
 * How the values of one outline are opened: the part that their reader needs. `Route` is the opener's own type, which it gets back with
 * each value.
 */
export interface Opening<Route> {
  readonly plan: ReadPlan;
  /** How columns of the rows are selected. Null if nobody selects any. */
  readonly selectable: SelectableRows | null;
  /** The route of these messages. Called once. */
  routeOf(read: ReadAs): Route;
}

/** How the messages of one outline are read. */
export interface ReadAs {
  readonly encoding: EncodingName;
  readonly fastPath: FastPathMatch | null;
  /** Whether a null is a tombstone. A null in an encoding without schemas is a value like any other. */
  readonly nullIsTombstone: boolean;
}

/** The port through which an encoding asks how values are opened. */
export interface Openings<Route> {
  openingFor(outline: Outline): Opening<Route>;
}

/** The result of the last message. There is one such object for each side of a topic, and decoders fill it in. */
export interface Reading<Route> {
  value: unknown;
  route: Route;
}

/** What the decoders of one side need to read messages that describe themselves. */
export interface TextScope<Route> {
  readonly settings: TextSettings;
  readonly openings: Openings<Route>;
  readonly reading: Reading<Route>;
  /** The semantics of columns. They change only by another object. */
  readonly semantics: { readonly columns: ColumnHints };
  /** Whether the messages are embedded in other messages. */
  readonly isEmbedded: boolean;
}

/** Settings that all decoders share. */
export interface TextSettings {
  readonly limits: ResolvedLimits;
  readonly values: ResolvedValueOptions;
  compileOptions(plan: ReadPlan): CompileOptions;
}
