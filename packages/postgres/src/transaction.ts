import { fromStatement, isReadOnly, PostgresSinkError } from "./errors.ts";
import type { OwnPool, PostgresClient, PostgresPool } from "./options.ts";

/** The statements of a transaction. A failure of one is PostgreSQL's, and names what was being done. */
export interface Statements {
  query(query: { readonly text: string; readonly values?: readonly unknown[] }): Promise<{
    readonly rows: readonly Record<string, unknown>[];
    readonly rowCount: number | null;
  }>;
  /**
   * The same statements. Their errors name this work. `hasTimeLimit`: whether the connection is given up if one takes too long.
   * @default true
   */
  labelled(what: string, limits?: { readonly hasTimeLimit: boolean }): Statements;
}

/**
 * PostgreSQL ends a transaction that does nothing for so long: its process is frozen, or the network is cut. So the next member's claim gets
 * the lock of the checkpoint.
 */
const maxIdleMs = 10_000;

/**
 * What waits for a lock of somebody else gives up after so long, and is tried again: PostgreSQL then says that it was a lock, where a statement
 * without an answer may be anything. Soon enough for `health()` to name the cause within 5 seconds.
 */
const maxLockWaitMs = 4_000;

/** The transactions of one sink. */
export class Transactions {
  readonly #open = new Set<PostgresClient>();
  readonly #patience: Patience;

  /** `timeoutMs`: how long a statement, or a connection attempt, may take. */
  constructor(timeoutMs: number) {
    this.#patience = { timeoutMs, unlimited: 0 };
  }

  /**
   * Runs the work in a transaction on a connection of its own. All of it is committed, or nothing. Each statement sees what is committed by
   * then, whatever the database's own isolation is: with a snapshot of its begin, it would not see the table that another member made while it
   * waited for the lock.
   */
  async run<T>(pool: PostgresPool, what: string, work: (statements: Statements) => Promise<T>): Promise<T> {
    const own = pool as Partial<OwnPool>;
    const heardBefore = own.heard?.();
    const client = await this.#connect(pool);
    this.#open.add(client);
    // A connection that breaks also emits an event, which would end the process if nobody listened.
    client.on?.("error", ignore);
    const statements = new LabelledStatements(client, this.#patience, what);
    try {
      await statements.query({
        text: `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${maxIdleMs}; set local lock_timeout = ${maxLockWaitMs}`,
      });
      const result = await work(statements);
      await statements.query({ text: "commit" });
      this.#release(client);
      return result;
    } catch (error) {
      if (error instanceof NoAnswerError) {
        this.#release(client, true);
        // A connection on which a table is rewritten is silent, too: it must not be closed with the dead ones.
        if (heardBefore !== undefined && this.#patience.unlimited === 0) {
          await own.closeSilent?.(heardBefore);
        }
      } else if (isReadOnly(error)) {
        this.#release(client, true); // it may lead to a standby, and a new one to the server that has taken over
      } else {
        await this.#rollBack(client);
      }
      throw error;
    }
  }

  /** Closes the connections of transactions under way, because one may wait for a lock for ever. PostgreSQL rolls them back. */
  cut(): void {
    for (const client of this.#open) {
      this.#release(client, true);
    }
  }

  /** If the transaction cannot be ended, its connection is closed, and PostgreSQL ends it. */
  async #rollBack(client: PostgresClient): Promise<void> {
    try {
      await answered(client.query({ text: "rollback" }), "rolling back", this.#patience.timeoutMs);
      this.#release(client);
    } catch {
      this.#release(client, true);
    }
  }

  async #connect(pool: PostgresPool): Promise<PostgresClient> {
    let connecting: Promise<PostgresClient> | undefined;
    try {
      connecting = pool.connect(); // pg reads the address of its pool here, and throws if it cannot
      const client = await answered(
        connecting,
        "connecting",
        this.#patience.timeoutMs,
        "the server is silent, or all connections of the pool are taken; it is tried again",
      );
      checkClient(client);
      return client;
    } catch (error) {
      if (error instanceof NoAnswerError) {
        connecting?.then(
          (client) => client.release(true),
          () => {}, // the connection was given up
        );
      }
      throw fromStatement(error, "connecting", { isConnection: true });
    }
  }

  #release(client: PostgresClient, isBroken = false): void {
    if (this.#open.delete(client)) {
      client.release(isBroken);
      // A closed connection may still emit an error.
      if (!isBroken) {
        client.off?.("error", ignore);
      }
    }
  }
}

/** A `pg.Client` has `connect` too, which gives nothing. */
function checkClient(client: Partial<PostgresClient> | undefined): void {
  if (typeof client?.query !== "function" || typeof client.release !== "function") {
    throw new PostgresSinkError(
      "invalid-option",
      "expected pool.connect() to give a connection with query and release, and it gives none: give a pg.Pool, not a pg.Client",
    );
  }
}

/** What the statements of all transactions have in common. */
interface Patience {
  readonly timeoutMs: number;
  /** How many statements without a time limit are under way. */
  unlimited: number;
}

class LabelledStatements implements Statements {
  readonly #client: PostgresClient;
  readonly #patience: Patience;
  readonly #what: string;
  readonly #hasTimeLimit: boolean;

  constructor(client: PostgresClient, patience: Patience, what: string, hasTimeLimit = true) {
    this.#client = client;
    this.#patience = patience;
    this.#what = what;
    this.#hasTimeLimit = hasTimeLimit;
  }

  labelled(what: string, { hasTimeLimit }: { readonly hasTimeLimit: boolean } = { hasTimeLimit: true }): Statements {
    return new LabelledStatements(this.#client, this.#patience, what, hasTimeLimit);
  }

  async query(query: Parameters<Statements["query"]>[0]): ReturnType<Statements["query"]> {
    try {
      return await (this.#hasTimeLimit
        ? answered(this.#client.query(query), this.#what, this.#patience.timeoutMs)
        : this.#answeredAtLast(query));
    } catch (error) {
      throw fromStatement(error, this.#what, query);
    }
  }

  async #answeredAtLast(query: Parameters<Statements["query"]>[0]): ReturnType<Statements["query"]> {
    this.#patience.unlimited++;
    try {
      return await this.#client.query(query);
    } finally {
      this.#patience.unlimited--;
    }
  }
}

/** A statement without an answer in time. Whether PostgreSQL has carried it out is not known. */
class NoAnswerError extends PostgresSinkError {
  constructor(what: string, timeoutMs: number, more: string) {
    super("unavailable", `${what}: no answer within ${timeoutMs} ms; ${more}`);
  }
}

async function answered<T>(
  work: Promise<T>,
  what: string,
  timeoutMs: number,
  more = "the connection is closed, and the batch is tried again on another one",
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(what, timeoutMs, more)), timeoutMs).unref();
  });
  work.catch(ignore); // it may fail after everybody has stopped waiting for it
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}
