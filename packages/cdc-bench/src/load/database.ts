import { BenchError } from "../bench-error.ts";

export type DatabaseKind = "postgresql" | "mariadb";

/** A connection to the database of an address such as `postgres://user@host:port/name` or `mariadb://...`. */
export interface Database {
  readonly kind: DatabaseKind;
  /** Rows as objects. Numbers that JavaScript cannot hold come as text. Parameters are `$1` in PostgreSQL, `?` in MariaDB. */
  query(sql: string, parameters?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

/** Connects, or says in a sentence what is wrong. A password comes with the address, or by `PGPASSWORD` and `MARIADB_PASSWORD`. */
export async function openDatabase(address: string): Promise<Database> {
  try {
    const database = await (databaseKindOf(address) === "postgresql" ? openPostgres(address) : openMariadb(address));
    return {
      ...database,
      query: (sql, parameters) =>
        database.query(sql, parameters).catch((error: unknown) => {
          throw explainDatabase(address, error, "refused a statement");
        }),
    };
  } catch (error) {
    throw explainDatabase(address, error, "could not be reached");
  }
}

/** Which database an address means. Another one is a usage error. */
export function databaseKindOf(address: string): DatabaseKind {
  if (!URL.canParse(address) && /^\w+:\/\//.test(address)) {
    // Without the address: it may hold a password.
    throw new BenchError("usage", "the address of the database cannot be read: percent-encode what is special in user and password.");
  }
  if (/^postgres(ql)?:\/\//.test(address)) {
    return "postgresql";
  }
  if (/^(mariadb|mysql):\/\//.test(address)) {
    return "mariadb";
  }
  throw new BenchError(
    "usage",
    "the address of a database must start with postgres:// or mariadb://, such as postgres://user@localhost:5432/shop.",
  );
}

/** The database's own code of an error that {@link openDatabase} or a query rejected with; empty if it has none. */
export function databaseErrorCode(error: unknown): string {
  const cause = error instanceof BenchError ? error.cause : error;
  return String((cause as { readonly code?: unknown } | undefined)?.code ?? "");
}

/** What went wrong, in a sentence. Its own message may quote a password or a row, so only the server's code and the place are told. */
function explainDatabase(address: string, error: unknown, otherwise: string): Error {
  if (error instanceof BenchError) {
    return error;
  }
  const { host } = new URL(address);
  const code = databaseErrorCode(error) || (isTimeoutOfPg(error) ? "ETIMEDOUT" : "no code");
  const what = reasons.find(([codes]) => codes.test(code))?.[1] ?? `${otherwise} (${code})`;
  return new BenchError("connection", `the database at ${host} ${what}${what.endsWith("?") ? "" : "."}`, { cause: error });
}

/** pg gives its own time-out no code. */
function isTimeoutOfPg(error: unknown): boolean {
  return error instanceof Error && /^(timeout expired|Connection terminated due to connection timeout)$/.test(error.message);
}

const reasons: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^(ECONNREFUSED|ER_SOCKET_)/, "does not answer: is it running there?"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "cannot be found: check the host's name"],
  [/^(ETIMEDOUT|ER_CONNECTION_TIMEOUT)$/, "does not answer in time: check host and port"],
  [
    /^(28P01|28000|ER_ACCESS_DENIED_ERROR)$/,
    "refuses the login: check the user and the password (PGPASSWORD or MARIADB_PASSWORD, or in the address)",
  ],
  [/^(3D000|ER_BAD_DB_ERROR|ER_DBACCESS_DENIED_ERROR)$/, "has no database of that name, or does not let this user in"],
  [/^(42501|ER_TABLEACCESS_DENIED_ERROR|ER_SPECIFIC_ACCESS_DENIED_ERROR)$/, "does not let this user do that: it needs more rights"],
  [/^(57P01|ECONNRESET|EPIPE|PROTOCOL_CONNECTION_LOST)$/, "has closed the connection: was it stopped?"],
  [/^(53100|ER_DISK_FULL|ER_RECORD_FILE_FULL)$/, "has no room on its disk"],
];

async function openPostgres(address: string): Promise<Database> {
  const { Client } = await loadPg();
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 5_000 });
  // A connection that breaks while nobody asks anything: the next query says so.
  client.on("error", () => {});
  await client.connect();
  return {
    kind: "postgresql",
    query: async (sql, parameters) => {
      const { rows } = await client.query<Record<string, unknown>>(sql, parameters === undefined ? undefined : [...parameters]);
      return rows;
    },
    close: () => client.end(),
  };
}

async function openMariadb(address: string): Promise<Database> {
  const { createConnection } = await loadMysql();
  const url = new URL(address);
  const password = url.password === "" ? process.env["MARIADB_PASSWORD"] : decodeURIComponent(url.password);
  const connection = await createConnection({
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    ...(password !== undefined && { password }),
    ...(url.pathname.length > 1 && { database: url.pathname.slice(1) }),
    connectTimeout: 5_000,
    supportBigNumbers: true,
    dateStrings: true,
  });
  connection.on("error", () => {});
  return {
    kind: "mariadb",
    query: async (sql, parameters) => {
      const [answer] = await connection.query(sql, parameters === undefined ? undefined : [...parameters]);
      return Array.isArray(answer) ? (answer as Readonly<Record<string, unknown>>[]) : [];
    },
    close: () => connection.end(),
  };
}

async function loadPg(): Promise<typeof import("pg")> {
  try {
    return (await import("pg")).default as unknown as typeof import("pg"); // a CommonJS module: all its names are on the default
  } catch (cause) {
    throw new BenchError("usage", "to ask PostgreSQL the package pg is needed: npm install pg.", { cause });
  }
}

async function loadMysql(): Promise<typeof import("mysql2/promise")> {
  try {
    return (await import("mysql2/promise")).default as unknown as typeof import("mysql2/promise");
  } catch (cause) {
    throw new BenchError("usage", "to ask MariaDB the package mysql2 is needed: npm install mysql2.", { cause });
  }
}
