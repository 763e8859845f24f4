import { setTimeout as pass } from "node:timers/promises";
import { BenchError } from "../../bench-error.ts";
import { type Database, databaseErrorCode, openDatabase } from "../../load/database.ts";
import type { RemoveThing } from "../leftovers.ts";
import { withLogin } from "../thing.ts";

/** How long a connector that was just deleted may hold its slot. */
const slotDeadlineMs = 20_000;
const askAgainMs = 200;

export interface DatabaseRemovers {
  readonly dropSlot: RemoveThing;
  readonly dropPublication: RemoveThing;
  readonly dropTable: RemoveThing;
  readonly dropSchema: RemoveThing;
  close(): Promise<void>;
}

/** @param addresses each used for the database that it names, and for no other */
export function createDatabaseRemovers(addresses: readonly (string | undefined)[]): DatabaseRemovers {
  const databases = new Map<string, Promise<Database>>();
  const databaseOf = (at: string): Promise<Database> => {
    const database = databases.get(at) ?? openDatabase(withLogin(at, addresses));
    databases.set(at, database);
    return database;
  };
  const run = async (at: string, sql: (database: Database) => string): Promise<void> => {
    const database = await databaseOf(at);
    await database.query(sql(database));
  };
  return {
    dropSlot: async ({ name, at }) => dropSlot(await databaseOf(at), name),
    dropPublication: ({ name, at }) => run(at, (database) => `drop publication if exists ${quoted(database, name)}`),
    dropTable: ({ name, at }) => run(at, (database) => `drop table if exists ${quotedPath(database, name)}`),
    // Without `cascade`: what somebody else put there is not ours to delete.
    dropSchema: ({ name, at }) => run(at, (database) => `drop schema if exists ${quoted(database, name)}`),
    close: async () => {
      await Promise.all([...databases.values()].map((opening) => opening.then((opened) => opened.close()).catch(() => {}))); // one that was never opened, too
    },
  };
}

/** `schema.name`, each part quoted. */
export function quotedPath(database: Pick<Database, "kind">, path: string): string {
  return path
    .split(".")
    .map((name) => quoted(database, name))
    .join(".");
}

export function quoted({ kind }: Pick<Database, "kind">, name: string): string {
  return kind === "postgresql" ? `"${name.replaceAll('"', '""')}"` : `\`${name.replaceAll("`", "``")}\``;
}

/** A slot can be dropped when its reader has gone. */
async function dropSlot(database: Database, name: string): Promise<void> {
  const deadlineMs = performance.now() + slotDeadlineMs;
  while (true) {
    const [slot] = await database.query("select active from pg_replication_slots where slot_name = $1", [name]);
    if (slot === undefined) {
      return;
    }
    if (slot["active"] === false) {
      await database.query("select pg_drop_replication_slot($1)", [name]).catch((error: unknown) => {
        // Its connector may have dropped it, or taken it again, since it was looked at.
        if (!["42704", "55006"].includes(databaseErrorCode(error))) {
          throw error;
        }
      });
    } else if (performance.now() > deadlineMs) {
      throw new BenchError("connection", "its connector still reads from it: stop the connector first");
    }
    await pass(askAgainMs);
  }
}
