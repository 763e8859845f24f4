import { fromStatement } from "./errors.ts";
import type { PostgresClient, PostgresPool } from "./options.ts";

/** What a transaction is made of. What fails here is PostgreSQL's, and says what was being done; all else that is thrown is not. */
export interface Statements {
  query(query: { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }): Promise<{
    readonly rows: readonly Record<string, unknown>[];
    readonly rowCount: number | null;
  }>;
  /** The same, for something else that errors are to name. */
  telling(what: string): Statements;
}

/**
 * Whoever holds a checkpoint's lock and does not go on (a process that is frozen, a network that is cut) is thrown out after this, so that
 * the next member's claim gets it.
 */
const maxIdleMs = 10_000;

/** The transactions of one sink. */
export class Transactions {
  readonly #open = new Set<PostgresClient>();

  /** Runs the work in a transaction on a connection of its own: all of it, or nothing. */
  async run<T>(pool: PostgresPool, what: string, work: (statements: Statements) => Promise<T>): Promise<T> {
    const client = await connect(pool);
    this.#open.add(client);
    // A connection that breaks says so as an event too, which would end the process where nobody listens.
    client.on?.("error", ignore);
    const statements = new ToldStatements(client, what);
    try {
      await statements.query({ text: `begin; set local idle_in_transaction_session_timeout = ${maxIdleMs}` });
      const result = await work(statements);
      await statements.query({ text: "commit" });
      this.#release(client);
      return result;
    } catch (error) {
      await this.#rollBack(client);
      throw error;
    }
  }

  /** Closes the connections of what is under way, which PostgreSQL then rolls back: it may wait for a lock for ever. */
  cut(): void {
    for (const client of this.#open) {
      this.#release(client, true);
    }
  }

  /** A connection whose transaction cannot be ended is closed, and PostgreSQL ends it. */
  async #rollBack(client: PostgresClient): Promise<void> {
    try {
      await client.query({ text: "rollback" });
      this.#release(client);
    } catch {
      this.#release(client, true);
    }
  }

  #release(client: PostgresClient, isBroken = false): void {
    if (this.#open.delete(client)) {
      client.release(isBroken);
      // One that is closed may still have something to say.
      if (!isBroken) {
        client.off?.("error", ignore);
      }
    }
  }
}

class ToldStatements implements Statements {
  readonly #client: PostgresClient;
  readonly #what: string;

  constructor(client: PostgresClient, what: string) {
    this.#client = client;
    this.#what = what;
  }

  telling(what: string): Statements {
    return new ToldStatements(this.#client, what);
  }

  async query(query: Parameters<Statements["query"]>[0]): ReturnType<Statements["query"]> {
    try {
      return await this.#client.query(query);
    } catch (error) {
      throw fromStatement(error, this.#what);
    }
  }
}

async function connect(pool: PostgresPool): Promise<PostgresClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw fromStatement(error, "connecting");
  }
}

function ignore(): void {}
