import { bindMethods } from "../../bind-methods.ts";
import type { CdcEvent, Columns } from "../../event.ts";
import { resolveBounds } from "../../stream/bounds.ts";
import type { Semantic } from "../../values/conversion.ts";
import { isUntypedOfDebezium } from "../formats.ts";

/** What the values of an untyped column look like. */
export type UntypedKind = "decimal or bytes in base64" | "milliseconds" | "microseconds" | "nanoseconds" | "days";

/** A column whose values carry no type, and that probably holds something other than plain numbers or text. */
export interface UntypedColumn {
  /** The name of the column. */
  readonly name: string;
  /** What its values probably are. */
  readonly looksLike: UntypedKind;
  /**
   * The semantic type to write in the topic's `columns`. For a decimal the scale is unknown: replace the `"?"`, which a decoder refuses.
   */
  readonly hint: Semantic;
}

/** How many rows, topics and columns {@link UntypedColumns} looks at and remembers. */
export interface UntypedColumnsOptions {
  /**
   * Rows of a topic that are looked at.
   * @default 20
   */
  readonly maxRows?: number;
  /**
   * Topics that are looked at. Further topics are ignored.
   * @default 1_000
   */
  readonly maxTopics?: number;
  /**
   * Columns of a topic that are looked at. Further columns are ignored.
   * @default 1_000
   */
  readonly maxColumns?: number;
}

interface SuspectColumns {
  rows: number;
  /** The kinds that fit every value of the column so far. Empty when a value has cleared the column. */
  readonly columns: Map<string, Suspect>;
}

interface Suspect {
  readonly kinds: readonly UntypedKind[];
  /** Whether some value looked like its kind in a way that text hardly ever does. */
  readonly isShown: boolean;
  readonly samples: number;
}

const minSamples = 2;
const [from, to] = [Date.UTC(1990), Date.UTC(2100)];
const dayMs = 86_400_000;

/**
 * Looks at the first rows of Debezium topics whose values carry no types (plain JSON), and reports the columns that look untyped:
 * - integers that are times between 1990 and 2100 in every row, in milliseconds, microseconds or nanoseconds. Days since 1970 count only if
 * the name of the column has the word day or date;
 * - text that is short base64 in every row, and that looks like base64 in at least one row (a `+`, `/` or `=`, or upper case after lower
 * case).
 *
 * A column is reported after two values that are not null. A report is a suspicion: somebody who knows the table, or its schema, must
 * confirm it. Columns that have a meaning from hints or keys are read with it, and are not reported.
 */
export class UntypedColumns {
  readonly #maxRows: number;
  readonly #maxTopics: number;
  readonly #maxColumns: number;
  readonly #topics = new Map<string, SuspectColumns>();

  constructor(options: UntypedColumnsOptions = {}) {
    const bounds = resolveBounds({ maxRows: 20, maxTopics: 1_000, maxColumns: 1_000, ...options }, "UntypedColumns");
    this.#maxRows = bounds.maxRows;
    this.#maxTopics = bounds.maxTopics;
    this.#maxColumns = bounds.maxColumns;
    bindMethods(this);
  }

  /** Whether more rows of the topic would be looked at. */
  wants(topic: string): boolean {
    const suspects = this.#topics.get(topic);
    return suspects === undefined ? this.#topics.size < this.#maxTopics : suspects.rows < this.#maxRows;
  }

  /** Looks at the row of an event if it is one of the first rows of its topic and carries no types. */
  add(event: CdcEvent): void {
    const row = rowOf(event);
    const { topic } = event.record;
    if (row === null || !this.wants(topic)) {
      return;
    }
    const suspects = this.#topics.get(topic) ?? { rows: 0, columns: new Map() };
    this.#topics.set(topic, suspects);
    suspects.rows++;
    for (const [name, value] of Object.entries(row)) {
      const before = suspects.columns.get(name);
      if (before !== undefined || suspects.columns.size < this.#maxColumns) {
        suspects.columns.set(name, narrowed(before ?? unseen, name, value));
      }
    }
  }

  /** The topics that were looked at. */
  topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  /** How many rows of the topic were looked at. */
  rowsOf(topic: string): number {
    return this.#topics.get(topic)?.rows ?? 0;
  }

  /** The names of all columns that the rows of the topic had. */
  namesOf(topic: string): readonly string[] {
    return [...(this.#topics.get(topic)?.columns.keys() ?? [])];
  }

  /** The suspected columns of the topic so far, in the order of the columns. */
  of(topic: string): readonly UntypedColumn[] {
    return [...(this.#topics.get(topic)?.columns ?? [])].flatMap(([name, { kinds, isShown, samples }]) => {
      const [looksLike] = kinds;
      return looksLike === undefined || !isShown || samples < minSamples ? [] : [{ name, looksLike, hint: hints[looksLike] }];
    });
  }
}

const hints: Readonly<Record<UntypedKind, Semantic>> = {
  "decimal or bytes in base64": { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "?" } },
  milliseconds: { name: "io.debezium.time.Timestamp", parameters: {} },
  microseconds: { name: "io.debezium.time.MicroTimestamp", parameters: {} },
  nanoseconds: { name: "io.debezium.time.NanoTimestamp", parameters: {} },
  days: { name: "io.debezium.time.Date", parameters: {} },
};

function rowOf(event: CdcEvent): Columns | null {
  if (!isUntypedOfDebezium(event)) {
    return null;
  }
  if (event.kind === "change") {
    return event.after ?? event.before;
  }
  return event.kind === "row" ? event.row : null;
}

/** The state of a column before its first value that is not null. */
const unseen: Suspect = Object.freeze({ kinds: Object.keys(hints) as UntypedKind[], isShown: false, samples: 0 }); // the keys are the kinds

function narrowed(before: Suspect, name: string, value: unknown): Suspect {
  if (value === null) {
    return before;
  }
  const found = kindsOf(name, value);
  return {
    kinds: before.kinds.filter((kind) => found.includes(kind)),
    isShown: before.isShown || typeof value !== "string" || /[+/=]|[a-z][A-Z]/.test(value),
    samples: before.samples + 1,
  };
}

function kindsOf(name: string, value: unknown): readonly UntypedKind[] {
  if (typeof value === "string") {
    return isShortBase64(value) ? ["decimal or bytes in base64"] : [];
  }
  if (typeof value !== "bigint" && !(typeof value === "number" && Number.isInteger(value))) {
    return [];
  }
  const units: readonly (readonly [UntypedKind, number])[] = [
    ["milliseconds", 1],
    ["microseconds", 1e3],
    ["nanoseconds", 1e6],
  ];
  const found = units.filter(([, perMs]) => value >= from * perMs && value <= to * perMs).map(([kind]) => kind);
  const isDay = /date|day/i.test(name) && value >= from / dayMs && value <= to / dayMs;
  return isDay ? [...found, "days"] : found;
}

const maxBase64 = 64;

function isShortBase64(text: string): boolean {
  return text !== "" && text.length <= maxBase64 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
