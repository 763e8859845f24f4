import type { CdcEvent, RowSlot, TableName } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import { type AnyHandler, type EventHandler, isControlKind, type TableHandlers, type TableSlot, tableSlots } from "./handlers.ts";
import type { ColumnSelection } from "./on.ts";
import { checkedTarget, type RowChecks, resolveRowChecks } from "./row-checks.ts";
import { MatchWatch, noteMatch, notingColumns, type WatchedPattern } from "./match-watch.ts";
import { noColumns, type Selection, SelectionOptions } from "./selection-options.ts";
import { TableMemo } from "./table-memo.ts";
import { checkPatternText, compareScope, type IsTopic, matchesTable, parseTablePattern, type TablePattern } from "./table-pattern.ts";

/** Where an event goes: to a handler at once, or together with the others of its fetched batch. */
export type Target =
  | { readonly kind: "each"; readonly handle: AnyHandler }
  | { readonly kind: "batch"; readonly handle: EventHandler<readonly CdcEvent[]> };

/** Why no handler took an event. */
export type FilterReason =
  /** No pattern matches its table. */
  | "table-without-handler"
  /** A pattern matches its table, and has no handler for what happened to it. */
  | "operation-without-handler"
  /** It belongs to no table, and its kind has no handler. */
  | "control-event-without-handler";

interface Registration {
  readonly pattern: TablePattern;
  /** The columns that its handlers read. Null: all. */
  readonly columns: ReadonlySet<string> | null;
  readonly targets: ReadonlyMap<TableSlot, Target>;
  readonly watched: WatchedPattern;
}

/** The route of each operation of a table. Null until its first event, which is reported to the watch. */
type Route = Record<TableSlot, Target | FilterReason | null>;

export interface RouterOptions {
  /** May put something around each handler. Called once for each. */
  readonly around?: (target: Target) => Target;
  readonly isTopic?: IsTopic;
  readonly watch?: MatchWatch;
}

/** Finds the handler of an event. Registrations come first. After the first event, none is accepted. */
export class Router {
  readonly #registrations: Registration[] = [];
  readonly #control = new Map<string, Target>();
  #any: Target | undefined;
  readonly #routes = new TableMemo<Route>(() => ({
    create: null,
    update: null,
    delete: null,
    read: null,
    truncate: null,
    row: null,
    tombstone: null,
  }));
  readonly #around: (target: Target) => Target;
  readonly #isTopic: IsTopic;
  readonly #watch: MatchWatch;
  readonly #selections = new SelectionOptions();

  constructor({ around = (target) => target, isTopic = () => false, watch = new MatchWatch() }: RouterOptions = {}) {
    this.#around = around;
    this.#isTopic = isTopic;
    this.#watch = watch;
  }

  /** Nothing was registered. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0 && this.#control.size === 0 && this.#any === undefined;
  }

  /** Some handler takes batches. */
  get hasBatchHandlers(): boolean {
    return this.#registrations.some(({ targets }) => [...targets.values()].some(({ kind }) => kind === "batch"));
  }

  /** Some handlers read only some columns, or take only some operations. */
  get selectsColumns(): boolean {
    return this.#selections.areGiven;
  }

  /** The columns that the handler of such an event reads; null: all. None if there is no handler. */
  columnsOf(table: TableName | null, slot: RowSlot, topic: string): ReadonlySet<string> | null {
    const taking = this.#registrations.find(({ pattern, targets }) => targets.has(slot) && matchesTable(pattern, table, topic));
    return taking === undefined ? (this.#any === undefined ? noColumns : null) : taking.columns;
  }

  /** Registers what `on` was given. */
  add(pattern: string, handlers: unknown, checks?: RowChecks): void {
    checkPatternText("on()", pattern);
    if (typeof handlers === "function" && checks === undefined) {
      this.#addFunction(pattern, handlers as AnyHandler);
    } else if (typeof handlers === "object" && handlers !== null && !isControlKind(pattern)) {
      const { columns, ops, ...rest } = handlers as TableHandlers & ColumnSelection<string>;
      this.#addTable(pattern, rest, this.#selections.resolve(pattern, { columns, ops }), resolveRowChecks(pattern, checks));
    } else if (typeof handlers === "function") {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) takes validators with an object of handlers alone`);
    } else {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) expects ${expectation(pattern)}`);
    }
  }

  /** Whether the handler of `*` takes a value that no envelope knows, for want of one for such values. */
  isLeftToAny({ kind }: CdcEvent): boolean {
    return kind === "unknown" && this.#any !== undefined && !this.#control.has(kind);
  }

  /** The event's handler, or why there is none. */
  targetOf(event: CdcEvent): Target | FilterReason {
    switch (event.kind) {
      case "change":
        return this.#routes.answerFor(event.table, event)[event.op] ?? this.#meet(event.table, event.op, event);
      case "truncate":
        return this.#routes.answerFor(event.table, event).truncate ?? this.#meet(event.table, "truncate", event);
      case "row":
        return this.#routes.answerFor(event.table, event).row ?? this.#meet(event.table, "row", event);
      case "tombstone":
        return this.#routes.answerFor(event.table, event).tombstone ?? this.#meet(event.table, "tombstone", event);
      default:
        return this.#control.get(event.kind) ?? this.#any ?? "control-event-without-handler";
    }
  }

  #addFunction(pattern: string, handle: AnyHandler): void {
    if (isGenerator(handle)) {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}): the handler ${neverRuns}`);
    }
    const target = this.#around({ kind: "each", handle });
    if (pattern === "*" && this.#any === undefined) {
      this.#any = target;
    } else if (isControlKind(pattern) && !this.#control.has(pattern)) {
      this.#control.set(pattern, target);
    } else if (pattern === "*" || isControlKind(pattern)) {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) has a handler already`);
    } else {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) expects ${expectation(pattern)}`);
    }
  }

  #addTable(text: string, handlers: TableHandlers, selection: Selection, checks: RowChecks | null): void {
    const { columns } = selection;
    const pattern = parseTablePattern(text, this.#isTopic);
    const unchecked = selection.restrict(text, targetsOf(text, handlers), handlers);
    const watched = this.#watch.watch(`on(${JSON.stringify(text)}) with ${Object.keys(handlers).join(", ")}`, pattern, columns);
    const checked = (target: Target): Target => (checks === null ? target : checkedTarget(target, checks, text));
    const made = new Map(
      [...new Set(unchecked.values())].map((target) => [
        target,
        this.#around(columns === null ? checked(target) : notingColumns(checked(target), watched)),
      ]),
    );
    const targets = new Map([...unchecked].map(([slot, target]) => [slot, made.get(target) ?? target]));
    for (const other of this.#registrations) {
      const taken = samePattern(other.pattern, pattern) ? [...targets.keys()].find((slot) => other.targets.has(slot)) : undefined;
      if (taken !== undefined) {
        throw new ConsumerError("invalid-handler", `on(${JSON.stringify(text)}) has a handler for ${taken} already`);
      }
    }
    this.#registrations.push({ pattern, columns, targets, watched });
    this.#registrations.sort((a, b) => compareScope(a.pattern, b.pattern));
    if (pattern.kind === "named" && pattern.mayBeTopic) {
      this.#routes.askTopics();
    }
  }

  /** The first event of this table and operation: its route is worked out, and the watch hears of it. */
  #meet(table: TableName | null, slot: TableSlot, event: CdcEvent): Target | FilterReason {
    if (!tableSlots.includes(slot)) {
      return unknownOperation(slot);
    }
    const { topic } = event.record;
    const matching = this.#registrations.filter(({ pattern }) => matchesTable(pattern, table, topic));
    for (const { watched } of matching) {
      if (table !== null) {
        noteMatch(watched, table);
      }
    }
    this.#watch.saw(table, slot, topic);
    const taking = matching.find(({ targets }) => targets.has(slot));
    if (taking !== undefined) {
      taking.watched.hasTaken = true;
    }
    const reason: FilterReason = matching.length === 0 ? "table-without-handler" : "operation-without-handler";
    const found = taking?.targets.get(slot) ?? (slot === "tombstone" ? this.#control.get(slot) : undefined) ?? this.#any ?? reason;
    this.#routes.answerFor(table, event)[slot] = found;
    return found;
  }
}

/** Our own decoder gives no such event, but one of the user's may. */
function unknownOperation(op: unknown): never {
  throw new TypeError(`expected a change to have the op create, update, delete or read, found ${typeof op === "string" ? op : typeof op}`);
}

const neverRuns =
  "is a generator function: calling one runs nothing of it, and its events would be committed unhandled; use a function or an async function";

function isGenerator(handler: unknown): boolean {
  return Object.prototype.toString.call(handler).endsWith("GeneratorFunction]");
}

function samePattern(a: TablePattern, b: TablePattern): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function targetsOf(text: string, handlers: TableHandlers): Map<TableSlot, Target> {
  for (const [name, handler] of Object.entries(handlers)) {
    const known = name === "batch" || (tableSlots as readonly string[]).includes(name);
    if (!known || (handler !== undefined && typeof handler !== "function")) {
      const problem = known ? "is not a function" : `is unknown: the handlers are ${tableSlots.join(", ")} and batch`;
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(text)}): handler ${JSON.stringify(name)} ${problem}`);
    }
  }
  for (const [name, handler] of Object.entries(handlers)) {
    if (isGenerator(handler)) {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(text)}): handler ${JSON.stringify(name)} ${neverRuns}`);
    }
  }
  const given = tableSlots.filter((slot) => handlers[slot] !== undefined);
  const { batch } = handlers;
  if (batch === undefined && given.length === 0) {
    throw new ConsumerError(
      "invalid-handler",
      `on(${JSON.stringify(text)}) has no handler, so its events would be committed unhandled: give it at least one of ${tableSlots.join(", ")} and batch`,
    );
  }
  if (batch === undefined) {
    return new Map(given.map((slot) => [slot, { kind: "each", handle: handlers[slot] as AnyHandler }])); // the slot is the event's own
  }
  if (given.length > 0) {
    throw new ConsumerError(
      "invalid-handler",
      `on(${JSON.stringify(text)}) has batch and ${given.join(", ")}: a batch takes every event of its table in order, so use one or the other`,
    );
  }
  const target: Target = { kind: "batch", handle: batch as EventHandler<readonly CdcEvent[]> }; // it gets table events only
  return new Map(tableSlots.map((slot) => [slot, target]));
}

function expectation(pattern: string): string {
  if (pattern === "*") {
    return "a function, or an object of handlers";
  }
  return isControlKind(pattern)
    ? `a function, because it is a kind of control event; a table of this name needs a longer one, as "public.${pattern}"`
    : "an object of handlers: { create, update, delete, read, truncate, row, tombstone } or { batch }";
}
