import type { TableName } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";
import type { ResolvedPostgresOptions } from "./options.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";

type TargetOptions = Pick<ResolvedPostgresOptions, "tableFor" | "schema" | "keepsCheckpoints" | "checkpointTable">;

/** Names the tables that rows are written to. */
export class Targets {
  readonly #options: TargetOptions;
  /** By target: the source table of its rows, with all parts of its name that any of them had. */
  readonly #sources = new Map<string, TableName>();

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** The table that rows of the source table are written to; null if they are not written. */
  of(table: TableName): Target | null {
    const { tableFor, schema } = this.#options;
    return tableFor === null ? { schema, name: table.name } : targetFor(tableFor, table, schema);
  }

  /** Whether rows of the source table are not written. If `tableFor` fails, that is told of the first row. */
  leavesOut(table: TableName): boolean {
    try {
      return this.of(table) === null;
    } catch {
      return false;
    }
  }

  /**
   * Refuses a second source table for the target, unless the user's `tableFor` has named the target: rows of both that have the same key would
   * overwrite each other. And the table of the checkpoints, which a source that is itself a copy has, too: its rows would move the sink's own offsets.
   */
  checkSources(target: Target, sources: Iterable<TableName>): void {
    const name = quoteTable(target);
    const { keepsCheckpoints, checkpointTable, schema } = this.#options;
    if (keepsCheckpoints && target.name === checkpointTable && target.schema === schema) {
      throw new PostgresSinkError(
        "schema-mismatch",
        `expected no rows for ${name}, where the sink keeps its own checkpoints, and the source has a table of this name: leave it out (tableFor answers ` +
          "null for it), or name another checkpointTable",
      );
    }
    for (const source of this.#options.tableFor === null ? sources : []) {
      const known = this.#sources.get(name) ?? source;
      if (isAnother(known.schema, source.schema) || isAnother(known.database, source.database)) {
        throw new PostgresSinkError(
          "schema-mismatch",
          `expected one source table for ${name}, found ${shownName(known)} and ${shownName(source)}: name a table for each of them by tableFor, or the ` +
            "same one if no two of their rows have the same key",
        );
      }
      this.#sources.set(name, { ...source, ...known });
    }
  }
}

/** A source table's name, so that no two tables share one. */
export function sourceName({ database, schema, name }: TableName): string {
  return JSON.stringify([database, schema, name]);
}

/** Whether two names are certainly of two source tables. */
export function isAnotherTable(first: TableName, other: TableName): boolean {
  return first.name !== other.name || isAnother(first.schema, other.schema) || isAnother(first.database, other.database);
}

/** A message need not say every part of its table's name. */
function isAnother(first: string | undefined, part: string | undefined): boolean {
  return first !== undefined && part !== undefined && first !== part;
}

/** A source table's name for people, with all parts that its message says. */
export function shownName({ database, schema, name }: TableName): string {
  return [database, schema, name].filter((part) => part !== undefined).join(".");
}

/** The answer of the user's function, checked. It is called in the middle of a batch, so its error must name the function. */
function targetFor(tableFor: NonNullable<ResolvedPostgresOptions["tableFor"]>, table: TableName, schema: string): Target | null {
  let named: unknown;
  try {
    named = tableFor(table);
    if (named === null) {
      return null;
    }
    if (named instanceof Promise) {
      named.catch(() => {}); // nobody waits for it
    }
    const target = named as { readonly schema?: unknown; readonly name?: unknown };
    const { schema: own = schema, name } = target;
    if (typeof name === "string" && name !== "" && typeof own === "string" && own !== "") {
      return { schema: own, name };
    }
  } catch (cause) {
    throw new PostgresSinkError(
      "table-for-failed",
      `expected tableFor not to throw, but it threw for ${shownName(table)}; the cause says why`,
      {
        cause,
      },
    );
  }
  throw new PostgresSinkError(
    "table-for-failed",
    `expected tableFor to return { name }, { schema, name } or null for ${shownName(table)}, found ${kindOf(named)}`,
  );
}

function kindOf(named: unknown): string {
  if (named instanceof Promise) {
    return "a promise: it must not be async";
  }
  return named === undefined ? "nothing" : typeof named === "object" ? "an object without a name" : `a ${typeof named}`;
}
