import type { TableName } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";

/** The part of a `pg.Pool` that is used. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
}

/** A pool of the sink's own. */
export interface OwnPool extends PostgresPool {
  /** Closes the connections on which nothing was heard since this moment of `performance.now()`: where one is dead, others may be. */
  closeSilent(sinceMs: number): Promise<void>;
}

/** The part of a `pg.PoolClient` that is used. */
export interface PostgresClient {
  query(query: { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }): Promise<{
    readonly rows: readonly Record<string, unknown>[];
    readonly rowCount: number | null;
  }>;
  /** Gives the connection back; with an error, it is closed. */
  release(error?: Error | boolean): void;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** Where the rows of a table go. */
export interface TableTarget {
  /** @default the sink's `schema` */
  readonly schema?: string;
  readonly name: string;
}

export interface PostgresOptions {
  /** A pool of your own, which `close()` leaves open. One connection a partition that is written at a time, and one for claims. */
  readonly pool?: PostgresPool;
  /** Or where to connect to; the package pg makes the pool. Without both, pg's own environment variables say. */
  readonly connectionString?: string;
  /**
   * As it appears in logs, and beside the checkpoints: another name begins anew.
   * @default "postgres"
   */
  readonly name?: string;
  /**
   * The schema that tables are written to.
   * @default "public"
   */
  readonly schema?: string;
  /**
   * Where the rows of a table go; null where they go nowhere.
   * @default the table's own name, in `schema`
   */
  readonly tableFor?: (table: TableName) => TableTarget | null;
  /**
   * Whether tables that are not there are created, from the schemas of the messages or, where they have none, from their values.
   * @default false
   */
  readonly create?: boolean;
  /**
   * Whether columns that are not there are added, and types made wider, as schemas change. Nothing is ever narrowed or dropped.
   * @default false
   */
  readonly widen?: boolean;
  /**
   * `"effectively-once"` keeps offsets in the transaction of the rows. `"at-least-once"` leaves them to Kafka: rows that were applied and not
   * committed there are applied again.
   * @default "effectively-once"
   */
  readonly delivery?: "effectively-once" | "at-least-once";
  /**
   * The table of the checkpoints, in `schema`. Created where it is not there.
   * @default "cdckit_checkpoints"
   */
  readonly checkpointTable?: string;
  /**
   * How long a statement, or a connection, may take. What takes longer is given up: its connection is closed and the batch is tried again on
   * another one, because a network can swallow what is sent without a word.
   * @default 30_000
   */
  readonly statementTimeoutMs?: number;
}

export interface ResolvedPostgresOptions {
  readonly pool: PostgresPool | null;
  readonly connectionString: string | null;
  readonly name: string;
  readonly schema: string;
  readonly tableFor: (table: TableName) => TableTarget | null;
  readonly create: boolean;
  readonly widen: boolean;
  readonly keepsCheckpoints: boolean;
  readonly checkpointTable: string;
  readonly statementTimeoutMs: number;
}

/** What Node's timers can hold. */
const maxTimerMs = 2_147_483_647;

/** Every option present and checked. */
export function resolvePostgresOptions(options: PostgresOptions = {}): ResolvedPostgresOptions {
  const { pool, connectionString, delivery = "effectively-once" } = options;
  if (pool !== undefined && connectionString !== undefined) {
    throw new PostgresSinkError("invalid-option", "pool and connectionString say the same thing: give one of them");
  }
  if (delivery !== "effectively-once" && delivery !== "at-least-once") {
    throw new PostgresSinkError("invalid-option", 'delivery must be "effectively-once" or "at-least-once"');
  }
  for (const name of ["name", "schema", "checkpointTable"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw new PostgresSinkError("invalid-option", `${name} must be a name, got ${typeof value}`);
    }
  }
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
    tableFor: options.tableFor ?? ((table: TableName) => ({ name: table.name })),
    create: options.create ?? false,
    widen: options.widen ?? false,
    keepsCheckpoints: delivery === "effectively-once",
    checkpointTable: options.checkpointTable ?? "cdckit_checkpoints",
    statementTimeoutMs,
  });
}
