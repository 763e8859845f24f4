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
  /** A change without a key: which row it is nobody can say. */
  | "key-missing"
  /** A row that the table does not have came without some of its columns: what they hold nobody can say. */
  | "row-incomplete"
  /** The table or a column is not there, and the sink was not asked to create it. */
  | "schema-mismatch"
  /** PostgreSQL cannot be reached, or asked to be tried again: deadlock, serialization failure, restart. */
  | "unavailable"
  /** PostgreSQL refused a row or a statement; its error is the cause. */
  | "rejected";

/** Whether the same batch may succeed later without anything being mended. */
const retriable: Readonly<Record<PostgresSinkErrorCode, boolean>> = {
  "invalid-option": false,
  "pg-missing": false,
  fenced: false,
  "not-claimed": false,
  "key-missing": false,
  "row-incomplete": false,
  "schema-mismatch": false,
  unavailable: true,
  rejected: false,
};

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/postgres/PostgresSinkError");

/** A sink that was set up wrongly, or could not apply a batch. The message names tables and columns, never values. */
export class PostgresSinkError extends Error {
  override readonly name = "PostgresSinkError";
  readonly code: PostgresSinkErrorCode;
  readonly retriable: boolean;

  constructor(code: PostgresSinkErrorCode, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retriable = retriable[code];
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Whether a value is a {@link PostgresSinkError}, also one of another copy of this package. */
export function isPostgresSinkError(value: unknown): value is PostgresSinkError {
  return value instanceof Error && brand in value;
}

/** What a statement failed with, as the sink's own error. PostgreSQL's detail holds values, so that only its code is told. */
export function fromStatement(error: unknown, what: string): PostgresSinkError {
  if (isPostgresSinkError(error)) {
    return error;
  }
  const state = (error as { readonly code?: unknown } | null)?.code;
  const isSqlState = typeof state === "string" && /^[0-9A-Z]{5}$/.test(state);
  if (!isSqlState || isPassing(state)) {
    return new PostgresSinkError(
      "unavailable",
      `${what}: PostgreSQL could not be asked${isSqlState ? ` (${state})` : ""}; it is tried again`,
      {
        cause: error,
      },
    );
  }
  return new PostgresSinkError("rejected", `${what}: PostgreSQL refused it with ${state} (see its appendix of error codes)`, {
    cause: error,
  });
}

/**
 * Connection trouble (08), deadlock and serialization (40), resources (53), an operator at work (57), the server's own disk (58), a lock
 * that was not to be had, a standby that is not yet the primary. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isPassing(state: string): boolean {
  return (/^(08|40|53|57|58)/.test(state) && state !== "57014") || state === "55P03" || state === "25006";
}
