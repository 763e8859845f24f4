import type { CdcEvent, TableName, TombstoneEvent } from "@cdckit/decode";
import type { Target } from "./router.ts";
import { isEndOf, type TablePattern, tablePath } from "./table-pattern.ts";

/** A pattern that was given, and what it has matched. */
export interface WatchedPattern {
  /** As the user wrote it: `on("public.orders") with update`. */
  readonly label: string;
  readonly pattern: TablePattern;
  /** It has taken an event. */
  hasTaken: boolean;
  /** The first of the tables that it matches, as paths. If there is more than one, the pattern is ambiguous. */
  readonly tables: Set<string>;
  /** The columns that its handlers read, and that no row has had yet. */
  readonly unseenColumns: Set<string>;
  /** Columns that the rows of its tables have, for messages. */
  readonly seenColumns: Set<string>;
}

/** A target that notes which of its columns the rows have, until it has met each of them: a row may lack a column that others have. */
export function notingColumns(target: Target, watched: WatchedPattern): Target {
  const { unseenColumns } = watched;
  return target.kind === "each"
    ? { kind: "each", handle: (event) => (unseenColumns.size > 0 && noteColumns(watched, event), target.handle(event)) }
    : {
        kind: "batch",
        handle: (events) => (unseenColumns.size > 0 && events.forEach((event) => noteColumns(watched, event)), target.handle(events)),
      };
}

/** Documents may have other columns each time. What is named in a message is enough of them. */
const maxSeenColumns = 100;

function noteColumns({ unseenColumns, seenColumns }: WatchedPattern, event: CdcEvent): void {
  const rows = event.kind === "change" ? [event.before, event.after] : event.kind === "row" ? [event.row] : [];
  for (const name of unseenColumns.size === 0 ? [] : rows.flatMap((row) => (row === null ? [] : Object.keys(row)))) {
    unseenColumns.delete(name);
    if (seenColumns.size < maxSeenColumns) {
      seenColumns.add(name);
    }
  }
}

/** The pattern matches this table. */
export function noteMatch({ tables }: WatchedPattern, table: TableName): void {
  if (tables.size <= maxTables) {
    tables.add(tablePath(table));
  }
}

export interface MatchReason {
  /** The pattern's. */
  readonly label: string;
  readonly text: string;
}

/** If there are more tables than this, messages name the first of them. */
const maxTables = 30;

/**
 * Knows which patterns have taken nothing although there was something to take. It hears of each table and operation once, when the first
 * such event is read, so that watching costs nothing for each event.
 */
export class MatchWatch {
  readonly #patterns: WatchedPattern[] = [];
  /** Paths of tables, with the operations that were seen of each. */
  readonly #seen = new Map<string, Set<string>>();
  readonly #topics = new Set<string>();
  readonly #byTopic: MatchReason[] = [];
  #omitted = 0;

  /** `columns`: those that are read; null: all. */
  watch(label: string, pattern: TablePattern, columns: ReadonlySet<string> | null = null): WatchedPattern {
    const unseenColumns = new Set(columns);
    const watched: WatchedPattern = { label, pattern, hasTaken: false, tables: new Set(), unseenColumns, seenColumns: new Set() };
    this.#patterns.push(watched);
    return watched;
  }

  /** An event of this table and operation was read for the first time. */
  saw(table: TableName | null, slot: string, topic: string): void {
    const path = table === null ? "rows of no table" : tablePath(table);
    const slots = this.#seen.get(path);
    this.#topics.add(topic);
    if (slots !== undefined) {
      slots.add(slot);
    } else if (this.#seen.size < maxTables) {
      this.#seen.set(path, new Set([slot]));
    } else {
      this.#omitted++;
    }
  }

  /** A sink has taken a tombstone whose table none of its patterns matches, because it takes rows of its topic. */
  takenByTopic(sink: string, { table, record: { topic } }: TombstoneEvent): void {
    if (this.#byTopic.length < maxTables) {
      const hint = `decoder.topics[${JSON.stringify(topic)}].table`;
      const own = table === null ? "of no table" : `of the table ${tablePath(table)}`;
      this.#byTopic.push({
        label: `the sink ${JSON.stringify(sink)} and tombstones of ${topic}`,
        text:
          `the sink ${JSON.stringify(sink)} takes rows of the topic ${topic}, and its tombstones are ${own}, which the sink's tables leave out: the sink got ` +
          `them, too, because one may be a delete. Set ${hint} to the table of its rows, { name: "..." }`,
      });
    }
  }

  /**
   * A sink has left tombstones out whose table none of its patterns matches, and then took a row of their topic without an envelope: each of them
   * may have been the delete of such a row.
   */
  leftOutBefore(sink: string, topic: string, tombstones: number): void {
    if (this.#byTopic.length < maxTables) {
      const count = tombstones === 1 ? "a tombstone" : `${tombstones} tombstones`;
      this.#byTopic.push({
        label: `the sink ${JSON.stringify(sink)} and the first tombstones of ${topic}`,
        text:
          `the sink ${JSON.stringify(sink)} did not get ${count} of the topic ${topic} that came before its first row was read, and each may be a delete: set ` +
          `decoder.topics[${JSON.stringify(topic)}].table to the table of its rows, { name: "..." }, and read these records again`,
      });
    }
  }

  /**
   * In words: the patterns that have taken nothing although something was read that they may mean, and the patterns that match several
   * tables; and what was taken by its topic. `topics`: the topics that are consumed.
   */
  reasons(topics: readonly string[]): readonly MatchReason[] {
    const seen = this.#seenText();
    const ofPatterns = this.#patterns.flatMap(({ label, pattern, hasTaken, tables, unseenColumns, seenColumns }) => {
      if (hasTaken && unseenColumns.size > 0) {
        return [{ label: `${label} and its columns`, text: unseenText(label, [...unseenColumns], seenColumns) }];
      }
      if (pattern.kind === "any") {
        return [];
      }
      const several = ambiguous([...tables]);
      if (several.length > 1) {
        const others = several.length > maxTables ? " and others" : "";
        const first = several.slice(0, maxTables).join(" and ");
        return [{ label, text: `${label} is ambiguous: it takes ${first}${others}; write which of them is meant` }];
      }
      return hasTaken || !this.#wasRead(pattern.text, topics)
        ? []
        : [
            {
              label,
              text: `${label} has taken nothing of what was read: ${seen}; name one of these tables, or its topic, and an operation that it has`,
            },
          ];
    });
    return [...ofPatterns, ...this.#byTopic];
  }

  /** If a topic's name ends as the pattern does, that topic is meant. Otherwise all topics may be. */
  #wasRead(text: string, topics: readonly string[]): boolean {
    const name = text.slice(text.lastIndexOf(".") + 1).toLowerCase();
    const own = topics.filter((topic) => isEndOf(name, topic.toLowerCase()));
    return own.length === 0 ? this.#topics.size > 0 : own.some((topic) => this.#topics.has(topic));
  }

  #seenText(): string {
    const texts = [...this.#seen].map(([path, slots]) => `${path} (${[...slots].join(", ")})`);
    return `${texts.join(", ")}${this.#omitted > 0 ? ` and others` : ""}`;
  }
}

function unseenText(label: string, unseen: readonly string[], seen: ReadonlySet<string>): string {
  const names = unseen.map((name) => JSON.stringify(name)).join(", ");
  const others = seen.size === 0 ? "none of its columns" : `only ${[...seen].join(", ")} of its columns`;
  return `${label} reads columns that no row has had: ${names}; the rows that were read have ${others}: check the names and their case`;
}

/** The tables whose names are not shorter forms of another one's: a tombstone's table is known by its topic alone. */
function ambiguous(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isEndOf(path, other)));
}

/** The table of an event, and what happened to it, in the words of handlers. Null for control events. */
export function slotOf(event: CdcEvent): string | null {
  return event.kind === "change"
    ? event.op
    : event.kind === "row" || event.kind === "truncate" || event.kind === "tombstone"
      ? event.kind
      : null;
}
