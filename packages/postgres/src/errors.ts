import { helpUrlOf } from "./help-url.ts";
import { quoteName, quoteTable } from "./quote.ts";

/** Every way in which the sink can fail. A code is written here and nowhere else. */
export type PostgresSinkErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** The package pg is not installed, and no pool was given. */
  | "pg-missing"
  /** Another member has claimed the partition since: nothing was applied. */
  | "fenced"
  /** The partition was not claimed. */
  | "not-claimed"
  /** The database has lost rows that it had committed: its checkpoint is behind them. Nothing was applied. */
  | "checkpoint-lost"
  /** A change has no key, so nothing says which row it is. */
  | "key-missing"
  /** A row that the table does not have came without some of its columns, and their values are unknown. */
  | "row-incomplete"
  /** The table or a column does not exist, and the sink may not create it. Or rows of two source tables would be written to one table. Or PostgreSQL would cut a name. */
  | "schema-mismatch"
  /** A tombstone may be a delete, or a row came, and nothing says of which table. */
  | "table-unknown"
  /** A table was truncated, and its topic has several partitions: rows that were written after the truncate may be there already. */
  | "truncate-refused"
  /** The option `tableFor` threw, or returned neither null nor a table. What it threw is the cause. */
  | "table-for-failed"
  /** PostgreSQL cannot be reached, or the failure is transient: a deadlock, a serialization failure, a restart. */
  | "unavailable"
  /** PostgreSQL refuses the connection, and a retry cannot help: user, password, database, TLS or the right to connect. */
  | "login-failed"
  /** PostgreSQL refused a row or a statement. The cause is a {@link PostgresRefusal}, which holds no values of rows. */
  | "rejected";

/** Whether the same batch may succeed later although nobody changes anything. */
const retriable: Readonly<Record<PostgresSinkErrorCode, boolean>> = {
  "invalid-option": false,
  "pg-missing": false,
  fenced: false,
  "not-claimed": false,
  "checkpoint-lost": false,
  "key-missing": false,
  "row-incomplete": false,
  "schema-mismatch": false,
  "table-unknown": false,
  "truncate-refused": false,
  "table-for-failed": false,
  unavailable: true,
  "login-failed": false,
  rejected: false,
};

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/postgres/PostgresSinkError");

/** A sink that was set up wrongly, or could not apply a batch. The message names tables and columns, never values. */
export class PostgresSinkError extends Error {
  override readonly name = "PostgresSinkError";
  /** What happened, for programs. The page at `helpUrl` explains it. */
  readonly code: PostgresSinkErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** Whether the sink tries the batch again by itself. */
  readonly retriable: boolean;

  constructor(code: PostgresSinkErrorCode, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.retriable = retriable[code];
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message, and whether the sink tries again. */
  toJSON(): object {
    const { name, code, message, helpUrl, retriable: isRetriable } = this;
    return { name, code, message, helpUrl, retriable: isRetriable };
  }
}

/** Whether a value is a {@link PostgresSinkError}, also one of another copy of this package. */
export function isPostgresSinkError(value: unknown): value is PostgresSinkError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}

/** What may be shown of an error of PostgreSQL: names, but none of its sentences, because those quote the row. */
const safeFields = ["severity", "schema", "table", "column", "dataType", "constraint", "routine"] as const;

/**
 * An error of PostgreSQL without its message, detail, hint and context, because those quote values of the refused row. PostgreSQL's own log has
 * them.
 */
export class PostgresRefusal extends Error {
  override readonly name = "PostgresRefusal";
  /** The SQLSTATE. */
  readonly code: string;
  /** The schema, table, column and constraint, if PostgreSQL has named them. */
  readonly about: Readonly<Partial<Record<(typeof safeFields)[number], string>>>;

  constructor(error: Readonly<Record<string, unknown>>, code: string) {
    super(`PostgreSQL answered with SQLSTATE ${code}; its log has the message`);
    this.code = code;
    this.about = Object.freeze(Object.fromEntries(safeFields.map((name) => [name, error[name]]).filter(([, value]) => isText(value))));
  }

  /** Its name, code and message, and what it is about. */
  toJSON(): object {
    const { name, code, message, about } = this;
    return { name, code, message, about };
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/**
 * PostgreSQL reads messages of up to 1 GB. Of a longer one it writes to its log and closes the connection, and says nothing to whoever sent it. pg puts a
 * backslash before each quote and backslash of a text, so half of that may be as much.
 */
const maxStatementBytes = 2 ** 29;

function bytesOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? bytesOf(value) : Buffer.byteLength(String(value))), 0);
}

/** The failure of a statement as the sink's own error. `isConnection`: of the attempt to connect. `values`: what was sent with it. */
export function fromStatement(
  error: unknown,
  what: string,
  { isConnection = false, values = [] }: { readonly isConnection?: boolean; readonly values?: readonly unknown[] } = {},
): PostgresSinkError {
  if (isPostgresSinkError(error)) {
    return error;
  }
  const state = sqlStateOf(error);
  const advice = loginAdvice(error, state);
  if (advice !== null) {
    const cause = state === null ? error : new PostgresRefusal(error as Readonly<Record<string, unknown>>, state); // as below
    const refusal = state === null ? "there is no connection to be had" : `PostgreSQL refuses the connection (${state})`;
    return new PostgresSinkError("login-failed", `${what}: ${refusal}: ${advice}`, { cause });
  }
  if (error instanceof RangeError && !isConnection) {
    return new PostgresSinkError(
      "rejected",
      `${what}: what is written together is larger than JavaScript's longest text, which has 512 MB: give the sink less at a time (batch.maxBytes of to())`,
      { cause: error },
    );
  }
  if (state === null && bytesOf(values) >= maxStatementBytes) {
    return new PostgresSinkError(
      "rejected",
      `${what}: the connection was lost, and what is written together may be larger than PostgreSQL reads at once, which is 1 GB: give the sink less at a time (batch.maxBytes of to())`,
      { cause: error },
    );
  }
  if (state === null) {
    const why = wordsOfClient(error);
    return new PostgresSinkError("unavailable", `${what}: PostgreSQL could not be reached${why}; the batch is tried again`, {
      cause: error,
    });
  }
  // A serialization failure is not about a row, but its detail may quote one.
  const cause = new PostgresRefusal(error as Readonly<Record<string, unknown>>, state); // it has a code, so it is an object
  return isTransient(state) || (state === notAccepting && isConnection)
    ? new PostgresSinkError(
        "unavailable",
        `${what}: PostgreSQL could not do it now (${state}${reasonOf(state)}); the batch is tried again`,
        { cause },
      )
    : new PostgresSinkError(
        "rejected",
        `${what}: PostgreSQL refused it with SQLSTATE ${state}${namesOf(cause)}${reasonOf(state, cause)}; the appendix of error codes in PostgreSQL's manual says what it means`,
        { cause },
      );
}

/** A violation of the protocol, which PostgreSQL seldom finds. PgBouncer 1.18 says so whatever it refuses. */
const ofPooler = "08P01";

/** PostgreSQL is a standby, or its sessions begin as read-only. */
const readOnly = "25006";

const noSuchText = "a text has the character U+0000, or one that the database's encoding lacks";

/** What people would otherwise have to look up, by SQLSTATE: what they have to see to is not the sink's. */
const reasons: Readonly<Record<string, string>> = {
  "0A000":
    "something needs the table as it is: a view or a generated column the type of a column that is widened (alter it yourself), a foreign key the rows of a table that is truncated (drop it); or the table has a rule, which no upsert takes (write a trigger)",
  [ofPooler]:
    "a pooler in between (PgBouncer) has no connection left, does not reach the server, or has ended what took too long: its log says why",
  "22021": noSuchText,
  "22P05": noSuchText,
  "23502":
    "the column takes no null: if the source has dropped it, or lets it be null by now, let it take nulls here, too (alter column ... drop not null)",
  [readOnly]: "the database, or its session, is read-only",
  "25P03": "the transaction did nothing for too long: this process stood still, or a handler kept its event loop busy",
  "3F000": "there is no such schema: create it, or let the sink create it (create: true)",
  "42501": "the role lacks a right, or a policy of row-level security refuses a row",
  "42883":
    "a function or an operator is not found: if a column of the key has the type of an extension, add its schema to the role's search_path",
  "44000": "the row is not one of those that the view shows (with check option)",
  "42P10":
    "the table has no primary key and no unique constraint over just the columns of the key: give it one, which it also needs if the primary key of the source's table has changed; foreign tables and materialized views can have none",
  "53100": "the server's disk is full",
  "53200": "the server has no memory left, or no place for another lock (max_locks_per_transaction)",
  "53300": "there is no connection left for this role, database or server",
  "55P03": "another session holds a lock: pg_blocking_pids() says which one blocks those that wait in pg_stat_activity",
  "57P01": "it shuts down, or somebody has ended the session",
  "57P03": "it starts, shuts down, or is a standby that lets nobody in",
  "57014": "statement_timeout, or somebody, has cancelled it: if it waited for a lock, pg_blocking_pids() says whose",
};

/** The same of states that have several reasons, by what PostgreSQL names. */
function reasonByNames(state: string, { constraint }: PostgresRefusal["about"]): string | undefined {
  if (state === "23514" && constraint === undefined) {
    return "the table has no partition for a row (create it, or a default one), or is itself a partition, for other rows than this one";
  }
  if (state === notAccepting) {
    return constraint === undefined
      ? "it is a view that PostgreSQL cannot write through, or a table that is published without a replica identity"
      : "the constraint is deferrable, and an upsert needs one over the key that is not";
  }
  return undefined;
}

function reasonOf(state: string, refusal?: PostgresRefusal): string {
  const reason = reasons[state] ?? (refusal === undefined ? undefined : reasonByNames(state, refusal.about));
  return reason === undefined ? "" : `, ${reason}`;
}

/** What a refusal is about, where PostgreSQL says it: the column of a null, the constraint of a double. */
function namesOf({ about }: PostgresRefusal): string {
  const named = (["column", "constraint"] as const).flatMap((kind) =>
    about[kind] === undefined ? [] : [`${kind} ${quoteName(about[kind])}`],
  );
  return named.length === 0 ? "" : ` (${named.join(", ")})`;
}

/** Refusals of a connection that a retry cannot help, by SQLSTATE: appendix A of PostgreSQL's manual, classes 28 and 3D. */
const adviceByState: Readonly<Record<string, string>> = {
  "28P01": "the password is wrong: check user and password of the connection",
  "28000": "this user may not log in from here: check the user, and the server's pg_hba.conf",
  "3D000": "there is no such database: check the database of the connection",
};

/** The same in the words of a pooler, whose state says nothing. */
const adviceOfPooler: readonly (readonly [RegExp, string])[] = [
  [/^(password|SASL) authentication failed|^no such user/, `${adviceByState["28P01"]}, and those with which the pooler in between logs in`],
  [/^no such database|^database .* does not exist/, adviceByState["3D000"] as string],
  [
    /statement pooling mode/,
    "the pooler in between hands out connections for single statements: set its pool_mode to transaction or session",
  ],
  [
    /^unsupported startup parameter/,
    "the pooler in between takes no such parameter: leave it out of the connection, or add it to ignore_startup_parameters",
  ],
];

/**
 * The same if pg, or Node's TLS, gives up before PostgreSQL has answered. Their messages hold no secrets. Every other message may tell of a
 * connection that was lost, in the words of whichever library the pool is of: that is tried again.
 */
const adviceByMessage: readonly (readonly [RegExp, string])[] = [
  [/client password must be a( non-empty)? string/, "the server wants a password, and the connection has none"],
  [/server does not support SSL/, "the server does not speak TLS: set ssl: false, or turn TLS on there"],
  [/^Cannot use a pool after calling end on the pool$/, "the pool was ended: end it after the consumer has stopped"],
  [/^Port should be /, "its port is none: check port, or PGPORT"],
  [/^(Invalid URL|URI malformed)$/, "its address cannot be read: percent-encode what is special in user and password"],
  [/no pg_hba\.conf entry/, "the server refuses this user from here: check its pg_hba.conf"],
];

/** What is wrong if TLS fails, by the code of Node or OpenSSL, and what to do. */
const adviceOfTls: readonly (readonly [code: RegExp, wrong: string, advice: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired", "it must be renewed, or the clock here is wrong"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another name", "connect by a name that it holds"],
  [
    /^ERR_SSL_.*ALERT/,
    "it refuses the TLS handshake",
    "does it trust the client's certificate (ssl.cert, ssl.key), and know this version of TLS",
  ],
  [/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL/, "its certificate is not trusted", "name the authority in ssl.ca"],
];

/** What pg itself says of a connection that it has lost, or did not get in time. These sentences hold no data, and their errors no code. */
const lostConnection =
  /^(Connection terminated( unexpectedly| due to connection timeout)?|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable)$/;

function wordsOfClient(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" && lostConnection.test(message) ? ` (${message})` : "";
}

/** What to change if a retry of the connection cannot help; null if it may help. */
function loginAdvice(error: unknown, state: string | null): string | null {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (state !== null) {
    return state === ofPooler ? adviceIn(adviceOfPooler, message) : (adviceByState[state] ?? null);
  }
  const tls = typeof code === "string" ? adviceOfTls.find(([pattern]) => pattern.test(code)) : undefined;
  return tls === undefined ? adviceIn(adviceByMessage, message) : `${tls[1]} (${String(code)}): ${tls[2]}`;
}

function adviceIn(list: readonly (readonly [RegExp, string])[], message: unknown): string | null {
  return list.find(([pattern]) => typeof message === "string" && pattern.test(message))?.[1] ?? null;
}

/** Codes of Node begin with E, and `EPIPE` has five characters, too. A trigger may raise any state, and what a server sends has a severity. */
function sqlStateOf(error: unknown): string | null {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && (isText(severity) || !code.startsWith("E")) ? code : null;
}

/** To whoever connects while `alter database ... allow_connections false` keeps everybody out. Of a statement, it is about a table. */
const notAccepting = "55000";

/**
 * Connection failures (08), deadlocks and serialization failures (40), resources (53), operator intervention (57), the server's own disk
 * (58), a lock that is not available, a standby that is not the primary yet, a transaction that was ended because it did nothing, or took long: this
 * process stood still in the middle of it. Among those of class 57 is a statement that took longer than the
 * server lets it: as with the sink's own limit, the table may be locked. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isTransient(state: string): boolean {
  return /^(08|40|53|57|58)/.test(state) || /^(55P03|25006|25P03|25P04)$/.test(state);
}

/** Whether PostgreSQL lets nothing be written on this connection. */
export function isReadOnly(error: unknown): boolean {
  return isPostgresSinkError(error) && error.cause instanceof PostgresRefusal && error.cause.code === readOnly;
}

/**
 * Whether two rows were in each other's way: a unique index or an exclusion constraint lets only one of them be there, one refers to the other,
 * or they are one (21000), whose key came in two forms: 1.0 and 1.00.
 */
export function isConflict(error: unknown): boolean {
  return isPostgresSinkError(error) && error.cause instanceof PostgresRefusal && /^(21000|23503|23505|23P01)$/.test(error.cause.code);
}

/** A table that is not as it is remembered: nothing was written. */
class TableAlteredError extends PostgresSinkError {}

/** The error that says so. */
export function tableAltered(target: Parameters<typeof quoteTable>[0]): PostgresSinkError {
  return new TableAlteredError("unavailable", `${quoteTable(target)} was altered meanwhile; the batch is tried again`);
}

/** Whether a table is not as the rows need it, or not as it is remembered. */
export function isMismatch(error: unknown): boolean {
  return isPostgresSinkError(error) && (error.code === "schema-mismatch" || error instanceof TableAlteredError);
}
