import type { CdcEvent, TableName } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import { type AnyHandler, type EventHandler, isControlKind, type TableHandlers } from "./handlers.ts";
import { checkedTarget, type RowChecks, resolveRowChecks } from "./row-checks.ts";
import { matchesTable, parseTablePattern, type TablePattern } from "./table-pattern.ts";

/** Where events go: to a handler at once, or together with the others of their fetched batch. */
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

type TableSlot = "create" | "update" | "delete" | "read" | "truncate" | "row" | "tombstone";

const tableSlots: readonly TableSlot[] = ["create", "update", "delete", "read", "truncate", "row", "tombstone"];

interface Registration {
  readonly pattern: TablePattern;
  readonly targets: ReadonlyMap<TableSlot, Target>;
}

type Route = Readonly<Record<TableSlot, Target | FilterReason>>;

/** A source with more tables than this has its routes worked out again: names from the wire must not fill the memory. */
const maxRoutes = 10_000;

/** Finds the handler of an event. Registrations come first; the first event closes the list. */
export class Router {
  readonly #registrations: Registration[] = [];
  readonly #control = new Map<string, Target>();
  #any: Target | undefined;
  #routes = new Map<string, Route>();
  readonly #around: (target: Target) => Target;
  // Neighbours in a topic are nearly always of one table: comparing names with the last one's saves building a map key an event.
  #lastTable: TableName | undefined;
  #lastRoute: Route | undefined;

  /** `around` may put something around each handler: called once for each. */
  constructor(around: (target: Target) => Target = (target) => target) {
    this.#around = around;
  }

  /** Nothing was registered. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0 && this.#control.size === 0 && this.#any === undefined;
  }

  /** Some handler takes batches. */
  get hasBatchHandlers(): boolean {
    return this.#registrations.some(({ targets }) => [...targets.values()].some(({ kind }) => kind === "batch"));
  }

  /** Registers what `on` was given. */
  add(pattern: string, handlers: unknown, checks?: RowChecks): void {
    if (typeof handlers === "function" && checks === undefined) {
      this.#addFunction(pattern, handlers as AnyHandler);
    } else if (typeof handlers === "object" && handlers !== null && !isControlKind(pattern)) {
      this.#addTable(pattern, handlers as TableHandlers, resolveRowChecks(pattern, checks));
    } else {
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) expects ${expectation(pattern)}`);
    }
  }

  /** The event's handler, or why there is none. */
  targetOf(event: CdcEvent): Target | FilterReason {
    switch (event.kind) {
      case "change":
        return this.#routeOf(event.table)[event.op] ?? unknownOperation(event.op);
      case "truncate":
        return this.#routeOf(event.table).truncate;
      case "row":
        return event.table === null ? this.#unnamed("row") : this.#routeOf(event.table).row;
      case "tombstone":
        return event.table === null ? this.#unnamed("tombstone") : this.#routeOf(event.table).tombstone;
      default:
        return this.#control.get(event.kind) ?? this.#any ?? "control-event-without-handler";
    }
  }

  #addFunction(pattern: string, handle: AnyHandler): void {
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

  #addTable(text: string, handlers: TableHandlers, checks: RowChecks | null): void {
    const unchecked = targetsOf(text, handlers);
    const made = new Map(
      [...new Set(unchecked.values())].map((target) => [
        target,
        this.#around(checks === null ? target : checkedTarget(target, checks, text)),
      ]),
    );
    const targets = new Map([...unchecked].map(([slot, target]) => [slot, made.get(target) ?? target]));
    const pattern = parseTablePattern(text);
    for (const other of this.#registrations) {
      const taken = samePattern(other.pattern, pattern) ? [...targets.keys()].find((slot) => other.targets.has(slot)) : undefined;
      if (taken !== undefined) {
        throw new ConsumerError("invalid-handler", `on(${JSON.stringify(text)}) has a handler for ${taken} already`);
      }
    }
    this.#registrations.push({ pattern, targets });
    // Exact patterns are asked before qualified ones, and those before "*".
    this.#registrations.sort((a, b) => rank[a.pattern.kind] - rank[b.pattern.kind]);
  }

  #routeOf(table: TableName): Route {
    const last = this.#lastTable;
    if (
      last !== undefined &&
      this.#lastRoute !== undefined &&
      (last === table || (last.name === table.name && last.schema === table.schema && last.database === table.database))
    ) {
      return this.#lastRoute;
    }
    const route = this.#lookUp(table);
    this.#lastTable = table;
    this.#lastRoute = route;
    return route;
  }

  #lookUp(table: TableName): Route {
    const key = `${table.database ?? ""}\0${table.schema ?? ""}\0${table.name}`;
    let route = this.#routes.get(key);
    if (route === undefined) {
      if (this.#routes.size >= maxRoutes) {
        this.#routes.clear();
      }
      route = this.#compile(table);
      this.#routes.set(key, route);
    }
    return route;
  }

  #compile(table: TableName): Route {
    const matching = this.#registrations.filter((registration) => matchesTable(registration.pattern, table));
    const reason: FilterReason = matching.length === 0 ? "table-without-handler" : "operation-without-handler";
    const targetFor = (slot: TableSlot): Target | FilterReason =>
      firstTarget(matching, slot) ?? (slot === "tombstone" ? this.#control.get(slot) : undefined) ?? this.#any ?? reason;
    return Object.fromEntries(tableSlots.map((slot) => [slot, targetFor(slot)])) as Route; // every slot is in tableSlots
  }

  /** A row or a tombstone whose table nobody knows can only be taken by `"*"`. */
  #unnamed(slot: "row" | "tombstone"): Target | FilterReason {
    const stars = this.#registrations.filter((registration) => registration.pattern.kind === "any");
    return firstTarget(stars, slot) ?? this.#control.get(slot) ?? this.#any ?? "table-without-handler";
  }
}

const rank: Readonly<Record<TablePattern["kind"], number>> = { exact: 0, qualified: 1, any: 2 };

/** Our own decoder gives no such event, one of the user's may. */
function unknownOperation(op: unknown): never {
  throw new TypeError(`expected a change to have the op create, update, delete or read, found ${typeof op === "string" ? op : typeof op}`);
}

function firstTarget(registrations: readonly Registration[], slot: TableSlot): Target | undefined {
  return registrations.find((registration) => registration.targets.has(slot))?.targets.get(slot);
}

function samePattern(a: TablePattern, b: TablePattern): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function targetsOf(text: string, handlers: TableHandlers): Map<TableSlot, Target> {
  for (const [name, handler] of Object.entries(handlers)) {
    const known = name === "batch" || (tableSlots as readonly string[]).includes(name);
    if (!known || (handler !== undefined && typeof handler !== "function")) {
      const problem = known ? "is not a function" : `is unknown: there are ${tableSlots.join(", ")} and batch`;
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(text)}): handler ${JSON.stringify(name)} ${problem}`);
    }
  }
  const given = tableSlots.filter((slot) => handlers[slot] !== undefined);
  const { batch } = handlers;
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
    ? "a function"
    : "an object of handlers: { create, update, delete, read, truncate, row, tombstone } or { batch }";
}
