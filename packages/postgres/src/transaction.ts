import { fromStatement, PostgresSinkError } from "./errors.ts";
import type { OwnPool, PostgresClient, PostgresPool } from "./options.ts";

/** What a transaction is made of. What fails here is PostgreSQL's, and says what was being done; all else that is thrown is not. */
export interface Statements {
  query(query: { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }): Promise<{
    readonly rows: readonly Record<string, unknown>[];
    readonly rowCount: number | null;
  }>;
  /** The same, for something else that errors are to name. */
  labelled(what: string): Statements;
}

/**
 * Whoever holds a checkpoint's lock and does not go on (a process that is frozen, a network that is cut) is thrown out after this, so that
 * the next member's claim gets it.
 */
const maxIdleMs = 10_000;

/** The transactions of one sink. */
export class Transactions {
  readonly #open = new Set<PostgresClient>();
  readonly #timeoutMs: number;

  /** `timeoutMs`: how long a statement, or a connection, may take. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Runs the work in a transaction on a connection of its own: all of it, or nothing. */
  async run<T>(pool: PostgresPool, what: string, work: (statements: Statements) => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const client = await this.#connect(pool);
    this.#open.add(client);
    // A connection that breaks says so as an event too, which would end the process where nobody listens.
    client.on?.("error", ignore);
    const statements = new LabelledStatements(client, what, this.#timeoutMs);
    try {
      await statements.query({ text: `begin; set local idle_in_transaction_session_timeout = ${maxIdleMs}` });
      const result = await work(statements);
      await statements.query({ text: "commit" });
      this.#release(client);
      return result;
    } catch (error) {
      if (error instanceof NoAnswerError) {
        this.#release(client, true);
        await (pool as Partial<OwnPool>).closeSilent?.(startedMs);
      } else {
        await this.#rollBack(client);
      }
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
      await answered(client.query({ text: "rollback" }), "rolling back", this.#timeoutMs);
      this.#release(client);
    } catch {
      this.#release(client, true);
    }
  }

  async #connect(pool: PostgresPool): Promise<PostgresClient> {
    const connecting = pool.connect();
    try {
      return await answered(connecting, "connecting", this.#timeoutMs);
    } catch (error) {
      if (error instanceof NoAnswerError) {
        connecting.then(
          (client) => client.release(true),
          () => {}, // it has been given up
        );
      }
      throw fromStatement(error, "connecting");
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

class LabelledStatements implements Statements {
  readonly #client: PostgresClient;
  readonly #what: string;
  readonly #timeoutMs: number;

  constructor(client: PostgresClient, what: string, timeoutMs: number) {
    this.#client = client;
    this.#what = what;
    this.#timeoutMs = timeoutMs;
  }

  labelled(what: string): Statements {
    return new LabelledStatements(this.#client, what, this.#timeoutMs);
  }

  async query(query: Parameters<Statements["query"]>[0]): ReturnType<Statements["query"]> {
    try {
      return await answered(this.#client.query(query), this.#what, this.#timeoutMs);
    } catch (error) {
      throw fromStatement(error, this.#what);
    }
  }
}

/** What was asked is not answered in time, and whether it was heard is not known. */
class NoAnswerError extends PostgresSinkError {
  constructor(what: string, timeoutMs: number) {
    super("unavailable", `${what}: no answer within ${timeoutMs} ms; the connection is closed, and it is tried again on another`);
  }
}

async function answered<T>(work: Promise<T>, what: string, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(what, timeoutMs)), timeoutMs).unref();
  });
  work.catch(ignore); // it may fail when nobody waits for it any more
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}
