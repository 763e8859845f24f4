import type { CdcEvent, SchemaSeen, TableName } from "@cdckit/decode";
import { type BatchOptions, resolveBatchLimits } from "../delivery/delivery-options.ts";
import type { AttachedSink } from "../delivery/sink-stage.ts";
import { ConsumerError } from "../errors.ts";
import { check, checkMembers } from "../option-checks.ts";
import type { Sink } from "../sink.ts";
import { type GuardedSinkParts, guardedSink } from "../user-code/guarded-sink.ts";
import { readMember, readText } from "../user-code/user-value.ts";
import { type MatchWatch, noteMatch, slotOf, type WatchedPattern } from "./match-watch.ts";
import { SinkSelection } from "./sink-selection.ts";
import { TableMemo } from "./table-memo.ts";
import { type IsTopic, matchesTable, parseTablePattern, type TablePattern } from "./table-pattern.ts";

/** What a sink takes, and how much at a time. */
export interface SinkOptions {
  /**
   * Patterns of tables, as in `on`: at least one.
   * @default every table
   */
  readonly tables?: readonly string[];
  /**
   * What is applied together.
   * @default `delivery.batch`
   */
  readonly batch?: BatchOptions;
}

export interface AttachedSinkParts extends GuardedSinkParts {
  readonly watch: MatchWatch;
  readonly isTopic: IsTopic;
}

/** The sinks of a consumer. Each takes the events of tables: changes, rows, truncates and tombstones. */
export class AttachedSinks {
  /** Each with its patterns; null: it takes every table. */
  readonly #attached = new Map<AttachedSink, readonly TablePattern[] | null>();
  /** Those that `to` was given. */
  readonly #byUser = new Set<AttachedSink>();
  readonly #parts: AttachedSinkParts;

  constructor(parts: AttachedSinkParts) {
    this.#parts = parts;
  }

  get all(): readonly AttachedSink[] {
    return [...this.#attached.keys()];
  }

  /** Attaches what `to` was given, or the sink of `pipe`, whose name is nobody's: `method` is what messages name. */
  add(sink: Sink, options: SinkOptions, method: "to()" | "pipe()" = "to()"): void {
    checkSink(sink);
    const isTaken = [...this.#byUser].some((other) => other.sink.name === sink.name);
    if (method === "to()" && isTaken) {
      throw new ConsumerError(
        "invalid-sink",
        `to() has a sink with the name ${JSON.stringify(sink.name)} already: checkpoints are kept by name`,
      );
    }
    checkMembers(method, options, ["tables", "batch"]);
    checkTables(options.tables);
    const { watch, isTopic } = this.#parts;
    const patterns = options.tables?.map((text) =>
      watch.watch(
        `the sink ${JSON.stringify(sink.name)} with ${JSON.stringify(text)}`,
        parseTablePattern(text, isTopic, method === "to()" ? "to() tables" : method),
      ),
    );
    const limits = resolveBatchLimits(`${method} batch`, options.batch);
    const guarded = guardedSink(sink, this.#parts);
    const selected =
      patterns === undefined ? { takes: isTableEvent, matches: null } : selectionOf(guarded, takesOf(patterns, watch), watch);
    const attached: AttachedSink = { sink: guarded, limits, ...selected };
    this.#attached.set(attached, patterns?.map(({ pattern }) => pattern) ?? null);
    if (method === "to()") {
      this.#byUser.add(attached);
    }
  }

  /** Whether some sink takes the rows of this table. Sinks read whole rows. */
  takeTable(table: TableName | null, topic: string): boolean {
    return [...this.#attached.values()].some((patterns) => takesTable(patterns, table, topic));
  }

  /** Where the sink of that name writes to. */
  hostOf(name: string): string | undefined {
    return this.all.find(({ sink }) => sink.name === name)?.sink.host;
  }

  /** Tells each sink of the schemas of tables that it takes, and of no others: what it keeps of them is its memory. */
  schemaSeen(seen: SchemaSeen): void {
    for (const [{ sink }, patterns] of this.#attached) {
      if (takesTable(patterns, seen.table, seen.topic)) {
        sink.schemaSeen?.(seen);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(async ({ sink }) => sink.close()));
  }
}

function takesTable(patterns: readonly TablePattern[] | null, table: TableName | null, topic: string): boolean {
  return patterns === null || patterns.some((pattern) => matchesTable(pattern, table, topic));
}

/** What lacks `close` would keep its connections after the end. */
function checkSink(sink: unknown): void {
  const hasName = readText(sink, "name") !== undefined;
  const lacks = [
    ...(hasName ? [] : ["name"]),
    ...["claim", "apply", "close"].filter((name) => typeof readMember(sink, name) !== "function"),
  ];
  if (lacks.length > 0) {
    const found =
      typeof sink === "object" && sink !== null ? `an object without ${lacks.join(", ")}` : sink === null ? "null" : typeof sink;
    throw new ConsumerError(
      "invalid-sink",
      `to() expects a sink: an object with a name, and the methods claim, apply and close; found ${found}`,
    );
  }
}

/** Without a pattern the sink would take nothing, and every record would be committed. */
function checkTables(tables: unknown): void {
  const fits = Array.isArray(tables) && tables.length > 0 && tables.every((pattern) => typeof pattern === "string");
  check(tables === undefined || fits, "to() tables", "an array of at least one pattern of tables", tables);
}

function isTableEvent(event: CdcEvent): boolean {
  return slotOf(event) !== null;
}

function selectionOf(
  { name, readsLeftOut = false }: Sink,
  matches: (event: CdcEvent) => boolean,
  watch: MatchWatch,
): Pick<AttachedSink, "takes" | "matches"> {
  const selection = new SinkSelection({
    matches,
    readsLeftOut,
    takenByTopic: (event) => watch.takenByTopic(name, event),
    leftOutBefore: (topic, tombstones) => watch.leftOutBefore(name, topic, tombstones),
  });
  return { takes: (event) => selection.takes(event), matches: readsLeftOut ? matches : null };
}

/** Decides which events these patterns take. For each table and operation this is decided once. */
function takesOf(patterns: readonly WatchedPattern[], watch: MatchWatch): (event: CdcEvent) => boolean {
  const byOperation = new TableMemo(() => new Map<string, boolean>());
  if (patterns.some(({ pattern }) => pattern.kind === "named" && pattern.mayBeTopic)) {
    byOperation.askTopics();
  }
  const meet = (table: TableName | null, slot: string, topic: string): boolean => {
    watch.saw(table, slot, topic);
    const matching = patterns.filter(({ pattern }) => (table !== null || pattern.kind === "named") && matchesTable(pattern, table, topic));
    for (const watched of matching) {
      watched.hasTaken = true;
      if (table !== null) {
        noteMatch(watched, table);
      }
    }
    return matching.length > 0;
  };
  return (event) => {
    const slot = slotOf(event);
    if (slot === null || !("table" in event)) {
      return false;
    }
    const { table } = event as { readonly table: TableName | null }; // of an event with a slot
    const answers = byOperation.answerFor(table, event);
    let isTaken = answers.get(slot);
    if (isTaken === undefined) {
      isTaken = meet(table, slot, event.record.topic);
      answers.set(slot, isTaken);
    }
    return isTaken;
  };
}
