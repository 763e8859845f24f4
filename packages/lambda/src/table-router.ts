import type { AnyHandler, ControlKind, TableHandlers } from "@cdckit/consumer";
import type { CdcEvent, TableName } from "@cdckit/decode";
import { LambdaError } from "./errors.ts";

/** What happened to a table, as the handlers of a table are named. */
type Slot = Exclude<keyof TableHandlers, "batch">;

const slots: Readonly<Record<Slot, true>> = {
  create: true,
  update: true,
  delete: true,
  read: true,
  truncate: true,
  row: true,
  tombstone: true,
};

/** A new kind does not compile without its name here. */
const controlKinds: Readonly<Record<ControlKind, true>> = {
  heartbeat: true,
  transaction: true,
  message: true,
  "schema-change": true,
  notification: true,
  watermark: true,
  tombstone: true,
  unknown: true,
};

interface Registration {
  readonly pattern: string;
  readonly handlers: Readonly<Partial<Record<Slot, AnyHandler>>>;
}

/**
 * Finds the handler of an event by the rules of a consumer: a topic's name comes before a table's, more parts of a table's name before fewer,
 * and `"*"` takes what is left. `contract.test.ts` holds it to the consumer.
 */
export class TableRouter {
  readonly #registrations: Registration[] = [];
  readonly #control = new Map<string, AnyHandler>();
  #any: AnyHandler | undefined;

  /** The patterns of tables and topics that have handlers. */
  get patterns(): readonly string[] {
    return [...new Set(this.#registrations.map(({ pattern }) => pattern))];
  }

  /** Whether nothing was registered at all. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0 && this.#control.size === 0 && this.#any === undefined;
  }

  /** Registers what `on` was given. */
  add(pattern: string, handlers: unknown): void {
    if (typeof pattern !== "string" || pattern === "" || pattern.split(".").includes("")) {
      throw invalid(`on() expects the name of a table or a topic, "*" or the kind of a control event, got ${textOf(pattern)}`);
    }
    if (pattern !== "*" && pattern.includes("*")) {
      throw invalid(
        `on() expects a name without wildcards, got ${JSON.stringify(pattern)}: name each table or topic, or give "*" alone, which takes every table`,
      );
    }
    const functions: [string, unknown][] = typeof handlers === "function" ? [[pattern, handlers]] : Object.entries(handlers ?? {});
    const generator = functions.find(([, handler]) => isGenerator(handler));
    if (generator !== undefined) {
      const [name] = generator;
      throw invalid(
        `on(${JSON.stringify(pattern)}): handler ${JSON.stringify(name)} is a generator function: calling one runs nothing of it, and its events would count as handled; use a function or an async function`,
      );
    }
    if (typeof handlers === "function") {
      this.#addFunction(pattern, handlers as AnyHandler);
    } else if (typeof handlers === "object" && handlers !== null && !Object.hasOwn(controlKinds, pattern)) {
      this.#addTable(pattern, handlers as Registration["handlers"]);
    } else {
      throw invalid(
        Object.hasOwn(controlKinds, pattern)
          ? `on(${JSON.stringify(pattern)}) expects a function, because it is a kind of control event; a table of this name needs a longer one, as "public.${pattern}"`
          : `on(${JSON.stringify(pattern)}) expects an object of handlers`,
      );
    }
  }

  /** The event's handler. Undefined if nobody asked for it. */
  handlerOf(event: CdcEvent): AnyHandler | undefined {
    switch (event.kind) {
      case "change":
        return this.#ofTable(event.table, event.record.topic, event.op) ?? this.#any;
      case "truncate":
      case "row":
        return this.#ofTable(event.table, event.record.topic, event.kind) ?? this.#any;
      case "tombstone":
        return this.#ofTable(event.table, event.record.topic, event.kind) ?? this.#control.get(event.kind) ?? this.#any;
      default:
        return this.#control.get(event.kind) ?? this.#any;
    }
  }

  #ofTable(table: TableName | null, topic: string, slot: Slot): AnyHandler | undefined {
    const path = table === null ? null : pathOf(table);
    let best: Registration | undefined;
    for (const one of this.#registrations) {
      if (
        one.handlers[slot] !== undefined &&
        matches(one.pattern, path, topic) &&
        (best === undefined || scope(one, topic) < scope(best, topic))
      ) {
        best = one;
      }
    }
    return best?.handlers[slot];
  }

  #addFunction(pattern: string, handler: AnyHandler): void {
    const isKind = Object.hasOwn(controlKinds, pattern);
    if (pattern !== "*" && !isKind) {
      throw invalid(`on(${JSON.stringify(pattern)}) expects an object of handlers: { ${Object.keys(slots).join(", ")} }`);
    }
    if (isKind ? this.#control.has(pattern) : this.#any !== undefined) {
      throw invalid(`on(${JSON.stringify(pattern)}) has a handler already`);
    }
    if (isKind) {
      this.#control.set(pattern, handler);
    } else {
      this.#any = handler;
    }
  }

  #addTable(pattern: string, handlers: Registration["handlers"]): void {
    for (const [name, handler] of Object.entries(handlers)) {
      if (!Object.hasOwn(slots, name) || (handler !== undefined && typeof handler !== "function")) {
        const problem = Object.hasOwn(slots, name) ? "is not a function" : `is unknown: the handlers are ${Object.keys(slots).join(", ")}`;
        throw invalid(`on(${JSON.stringify(pattern)}): handler ${JSON.stringify(name)} ${problem}`);
      }
      const slot = name as Slot; // it is one of them
      if (handler !== undefined && this.#registrations.some((other) => other.pattern === pattern && other.handlers[slot] !== undefined)) {
        throw invalid(`on(${JSON.stringify(pattern)}) has a handler for ${name} already`);
      }
    }
    if (Object.values(handlers).every((handler) => handler === undefined)) {
      throw invalid(
        `on(${JSON.stringify(pattern)}) has no handler, so its events would count as handled: give it at least one of ${Object.keys(slots).join(", ")}`,
      );
    }
    this.#registrations.push({ pattern, handlers });
  }
}

/** The name of a table with all of its parts. */
export function pathOf({ database, schema, name }: TableName): string {
  return [database, schema, name].filter((part) => part !== undefined).join(".");
}

/** Only whole parts of a name count. */
function matches(pattern: string, path: string | null, topic: string): boolean {
  return pattern === "*" || pattern === topic || (path !== null && (path === pattern || path.endsWith(`.${pattern}`)));
}

/** The lower, the more specific. */
function scope({ pattern }: Registration, topic: string): number {
  return pattern === topic ? 0 : pattern === "*" ? 4 : 4 - pattern.split(".").length;
}

function isGenerator(handler: unknown): boolean {
  return Object.prototype.toString.call(handler).endsWith("GeneratorFunction]");
}

/** JavaScript lets anything through, and a regular expression has no JSON. */
function textOf(pattern: unknown): string {
  return pattern instanceof RegExp ? `the regular expression ${String(pattern)}` : (JSON.stringify(pattern) ?? typeof pattern);
}

function invalid(detail: string): LambdaError {
  return new LambdaError("invalid-handler", detail);
}
