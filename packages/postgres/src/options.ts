import type { TableName } from "@cdckit/decode";
import { checkConnectionString } from "./connection-string.ts";
import { PostgresSinkError } from "./errors.ts";
import { isKeptWhole, maxNameBytes } from "./name-limit.ts";

/** The part of a `pg.Pool` that is used. */
export interface PostgresPool {
  /** A connection of the pool; rejects if none can be had. */
  connect(): Promise<PostgresClient>;
  /** Closes all connections, after those in use were released. */
  end(): Promise<void>;
}

/** A pool that the sink has made. */
export interface OwnPool extends PostgresPool {
  /** What was heard on each connection so far. */
  heard(): HeardBytes;
  /** Closes the connections that were open then, and on which nothing was heard since: if one is dead, others may be, too. */
  closeSilent(since: HeardBytes): Promise<void>;
}

/** By connection: how many bytes it has received. */
export type HeardBytes = ReadonlyMap<object, number>;

/** The part of a `pg.PoolClient` that is used. */
export interface PostgresClient {
  /** Runs one statement with its parameters; rejects with the error of the client. */
  query(query: { readonly text: string; readonly values?: readonly unknown[] }): Promise<{
    /** The rows of the result, each an object by column name. */
    readonly rows: readonly Record<string, unknown>[];
    /** How many rows the statement has written or read; null if it is of another kind. */
    readonly rowCount: number | null;
  }>;
  /** Returns the connection to the pool. With an error, the connection is closed. */
  release(error?: Error | boolean): void;
  /** Listens for the loss of a connection that is not in use; without a listener, Node ends the process. */
  on?(event: "error", listener: (error: Error) => void): unknown;
  /** Takes such a listener away. */
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** The table that rows are written to. */
export interface TableTarget {
  /**
   * The schema of the table.
   * @default the sink's `schema`
   */
  readonly schema?: string;
  /** The table's name, without its schema and without quotes. */
  readonly name: string;
}

/** The options of `postgres`: the connection, the target tables and the promise. */
export interface PostgresOptions {
  /**
   * A pool of your own, which `close()` leaves open. It needs a connection for each partition that is written at a time, and one for claims, and
   * two listeners, `pool.on("error", ...)` and `pool.on("connect", (client) => client.on("error", ...))`: without them, Node ends the process when a
   * connection is lost that is idle, or new.
   */
  readonly pool?: PostgresPool;
  /**
   * The address of the database, in place of `pool`: a URL, with user and password percent-encoded. Without both, pg's own environment
   * variables name it.
   */
  readonly connectionString?: string;
  /**
   * The sink's name in logs and in its checkpoints. With another name, the sink has no checkpoints.
   * @default "postgres"
   */
  readonly name?: string;
  /**
   * The schema of the tables.
   * @default "public"
   */
  readonly schema?: string;
  /**
   * Names the table that the rows of a source table are written to. Null: they are not written. Without it, two source tables of one name (of
   * several schemas or databases) are an error in the process that meets both.
   * @default the table's own name, in `schema`
   */
  readonly tableFor?: (table: TableName) => TableTarget | null;
  /**
   * Whether missing tables are created: from the schemas of the messages, or from their values if there are no schemas (numbers are `numeric` then).
   * @default false
   */
  readonly create?: boolean;
  /**
   * Whether missing columns are added, and types are widened, when schemas change. Nothing is narrowed or dropped.
   * @default false
   */
  readonly widen?: boolean;
  /**
   * What is done if a source table is truncated. `"apply"` empties the target, `"ignore"` keeps its rows, and `"halt"` refuses the record with
   * `truncate-refused`. By default it is refused if the topic is known to have several partitions, because it is in one of them, and if the
   * target is known to have rows of other source tables (`tableFor`), because they were not truncated.
   * @default `"halt"` if the topic has several partitions, or the target several source tables, otherwise `"apply"`
   */
  readonly truncate?: "apply" | "ignore" | "halt";
  /**
   * `"effectively-once"` keeps offsets in the transaction of the rows. `"at-least-once"` leaves offsets to Kafka: after a crash, rows whose
   * offsets were not committed are applied again.
   * @default "effectively-once"
   */
  readonly delivery?: "effectively-once" | "at-least-once";
  /**
   * The table of the checkpoints, in `schema`. It is created if it does not exist.
   * @default "cdckit_checkpoints"
   */
  readonly checkpointTable?: string;
  /**
   * How long a statement, or a connection attempt, may take. After that its connection is closed, and the batch is tried again on another
   * one: a network can drop everything that is sent, without an error. What `widen` alters has no limit: PostgreSQL may rewrite the table.
   * @default 30_000
   */
  readonly statementTimeoutMs?: number;
}

export interface ResolvedPostgresOptions {
  readonly pool: PostgresPool | null;
  readonly connectionString: string | null;
  readonly name: string;
  readonly schema: string;
  /** Null: each source table has the target of its own name. */
  readonly tableFor: ((table: TableName) => TableTarget | null) | null;
  readonly create: boolean;
  readonly widen: boolean;
  /** Null: it depends on the number of the topic's partitions. */
  readonly truncate: "apply" | "ignore" | "halt" | null;
  readonly keepsCheckpoints: boolean;
  readonly checkpointTable: string;
  readonly statementTimeoutMs: number;
}

/** The longest delay of Node's timers. */
const maxTimerMs = 2_147_483_647;

/** A new option does not compile without a name here. */
const names: Readonly<Record<keyof PostgresOptions, true>> = {
  pool: true,
  connectionString: true,
  name: true,
  schema: true,
  tableFor: true,
  create: true,
  widen: true,
  truncate: true,
  delivery: true,
  checkpointTable: true,
  statementTimeoutMs: true,
};

/** Refuses names that are no options: a misspelt option would otherwise have no effect, and nobody would notice. */
function checkNames(options: unknown): void {
  if (typeof options !== "object" || options === null) {
    throw new PostgresSinkError("invalid-option", `expected an object of options, found ${options === null ? "null" : typeof options}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(names, name)) {
      throw new PostgresSinkError("invalid-option", `${name} is no option; the options are ${Object.keys(names).join(", ")}`);
    }
  }
}

/** The names that statements have, and the sink's own. */
function checkIdentifiers(options: PostgresOptions): void {
  for (const name of ["name", "schema", "checkpointTable"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw new PostgresSinkError("invalid-option", `expected ${name} to be a name, found ${typeof value}`);
    }
  }
  for (const name of ["schema", "checkpointTable"] as const) {
    const value = options[name];
    if (value !== undefined && !isKeptWhole(value)) {
      throw new PostgresSinkError(
        "invalid-option",
        `expected ${name} to have at most ${maxNameBytes} bytes, found ${Buffer.byteLength(value)}: PostgreSQL cuts off the rest`,
      );
    }
  }
}

/** The options that are no names. Read as true, `create: "no"` would create tables. */
function checkTypes({ pool, tableFor, create, widen }: { readonly [name in keyof PostgresOptions]?: unknown }): void {
  for (const [name, value] of Object.entries({ create, widen })) {
    if (value !== undefined && typeof value !== "boolean") {
      throw new PostgresSinkError("invalid-option", `expected ${name} to be true or false, found ${kindOf(value)}`);
    }
  }
  if (tableFor !== undefined && typeof tableFor !== "function") {
    throw new PostgresSinkError("invalid-option", `expected tableFor to be a function that names a table, found ${kindOf(tableFor)}`);
  }
  if (pool !== undefined && typeof (pool as Partial<PostgresPool> | null)?.connect !== "function") {
    const found = typeof pool === "object" && pool !== null ? "an object without connect" : kindOf(pool);
    throw new PostgresSinkError("invalid-option", `expected pool to be a pool of the package pg, found ${found}`);
  }
}

/** Without the value itself: it may be an address with a password. */
function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

/** Every option, present and checked. */
export function resolvePostgresOptions(options: PostgresOptions = {}): ResolvedPostgresOptions {
  checkNames(options);
  const { pool, connectionString, delivery = "effectively-once" } = options;
  if (pool !== undefined && connectionString !== undefined) {
    throw new PostgresSinkError("invalid-option", "expected pool or connectionString, found both: give one of them");
  }
  if (connectionString !== undefined) {
    checkConnectionString(connectionString);
  }
  if (delivery !== "effectively-once" && delivery !== "at-least-once") {
    throw new PostgresSinkError("invalid-option", 'delivery must be "effectively-once" or "at-least-once"');
  }
  if (options.truncate !== undefined && !["apply", "ignore", "halt"].includes(options.truncate)) {
    throw new PostgresSinkError("invalid-option", 'truncate must be "apply", "ignore" or "halt"');
  }
  checkIdentifiers(options);
  checkTypes(options);
  const { statementTimeoutMs = 30_000 } = options;
  if (!Number.isSafeInteger(statementTimeoutMs) || statementTimeoutMs < 1 || statementTimeoutMs > maxTimerMs) {
    throw new PostgresSinkError(
      "invalid-option",
      `expected statementTimeoutMs to be milliseconds, 1 to ${maxTimerMs}, found ${String(statementTimeoutMs)}`,
    );
  }
  return Object.freeze({
    pool: pool ?? null,
    connectionString: connectionString ?? null,
    name: options.name ?? "postgres",
    schema: options.schema ?? "public",
    tableFor: options.tableFor ?? null,
    create: options.create ?? false,
    widen: options.widen ?? false,
    truncate: options.truncate ?? null,
    keepsCheckpoints: delivery === "effectively-once",
    checkpointTable: options.checkpointTable ?? "cdckit_checkpoints",
    statementTimeoutMs,
  });
}
