import type { Operation } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import type { TableHandlers, TableSlot } from "./handlers.ts";
import type { Target } from "./router.ts";

/** Which columns and changes the handlers of one `on` take. */
export interface Selection {
  /** Null: all columns. The same columns are the same object, because the decoder keeps readers by it. */
  readonly columns: ReadonlySet<string> | null;
  /** The targets without those of operations that are not taken. */
  restrict(pattern: string, targets: Map<TableSlot, Target>, handlers: TableHandlers): Map<TableSlot, Target>;
}

/** The selection of events that nobody takes. */
export const noColumns: ReadonlySet<string> = new Set();

const operations: readonly Operation[] = ["create", "update", "delete", "read"];

/** Reads the members `columns` and `ops` of what `on` was given. */
export class SelectionOptions {
  /** Whether any handler has one of them. */
  areGiven = false;
  readonly #sets = new Map<string, ReadonlySet<string>>();

  /** Throws a `ConsumerError` for anything but lists of names. */
  resolve(pattern: string, { columns, ops }: { readonly columns?: unknown; readonly ops?: unknown }): Selection {
    const names = namesOf(pattern, "columns", columns, null);
    const taken = namesOf(pattern, "ops", ops, operations);
    this.areGiven ||= names !== null || taken !== null;
    return {
      columns: names === null ? null : this.#setOf(names),
      restrict: (text, targets, handlers) => (taken === null ? targets : restricted(text, targets, handlers, taken)),
    };
  }

  #setOf(names: readonly string[]): ReadonlySet<string> {
    const key = JSON.stringify([...names].sort());
    const set = this.#sets.get(key) ?? new Set(names);
    this.#sets.set(key, set);
    return set;
  }
}

function namesOf(pattern: string, member: string, names: unknown, known: readonly string[] | null): readonly string[] | null {
  if (names === undefined) {
    return null;
  }
  const isName = (name: unknown): boolean => typeof name === "string" && name !== "" && (known === null || known.includes(name));
  if (!Array.isArray(names) || names.length === 0 || !names.every(isName)) {
    const kind = known === null ? "of a column" : `out of ${known.join(", ")}`;
    throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}): ${member} expects a list of at least one name ${kind}`);
  }
  return names as readonly string[];
}

function restricted(
  pattern: string,
  targets: Map<TableSlot, Target>,
  handlers: TableHandlers,
  taken: readonly string[],
): Map<TableSlot, Target> {
  const others = operations.filter((op) => !taken.includes(op));
  const idle = others.find((op) => handlers[op] !== undefined);
  if (idle !== undefined) {
    throw new ConsumerError(
      "invalid-handler",
      `on(${JSON.stringify(pattern)}) has a handler for ${idle}, which its ops leave out: remove the handler, or add ${JSON.stringify(idle)} to ops`,
    );
  }
  return new Map([...targets].filter(([slot]) => !(others as readonly string[]).includes(slot)));
}
