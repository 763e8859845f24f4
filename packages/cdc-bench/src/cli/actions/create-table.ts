import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { cleanLeftovers, openLeftovers } from "../../leftovers/leftovers.ts";
import { quotedPath } from "../../leftovers/removers/database.ts";
import { createRemover } from "../../leftovers/removers.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { type Database, openDatabase } from "../../load/database.ts";
import { createObserver } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { createOrderTable, findTable, type OrderTable, qualifiedPath } from "../../scenario/tables/sales-order-detail.ts";
import { type Terminal, write } from "../../terminal.ts";
import type { CreateTableFlags } from "../create-table.ts";
import { envValue } from "../env-value.ts";
import { readStackState } from "../stack-state.ts";

/** Makes the published table. It stays; a table that was not finished does not. */
export async function createTable(flags: CreateTableFlags, terminal: Terminal): Promise<ExitCode> {
  const databaseUrl = flags.database ?? envValue("DATABASE_URL", terminal.env, String) ?? readStackState(flags.stack)?.databaseUrl;
  const remover = createRemover({ databaseUrls: [databaseUrl] });
  try {
    if (flags.clean === true) {
      return await cleanLeftovers({ terminal, remove: remover.remove });
    }
    if (databaseUrl === undefined) {
      throw new BenchError("usage", "in which database? Give --database postgres://USER@HOST/NAME or mariadb://..., or --stack FOLDER.");
    }
    const database = await openDatabase(databaseUrl);
    try {
      const table = { path: qualifiedPath(databaseUrl, database.kind, flags.table), rows: flags.rows, seed: flags.seed };
      await makeRoom(database, table.path, flags.replace === true);
      return await fill(database, databaseUrl, table, terminal, remover.remove);
    } finally {
      await database.close().catch(() => {}); // it may have been lost
    }
  } finally {
    await remover.close();
  }
}

async function makeRoom(database: Database, path: string, isReplacing: boolean): Promise<void> {
  const found = await findTable(database, path);
  if (found === null) {
    return;
  }
  if (!isReplacing || found.own === null) {
    const what =
      found.own === null ? "and is not of this command: name another with --table" : "--replace drops it, and --table names another";
    throw new BenchError("usage", `the table ${path} is there already, with ${formatCount(found.rows)} rows: ${what}.`);
  }
  await database.query(`drop table ${quotedPath(database, path)}`);
}

async function fill(
  database: Database,
  databaseUrl: string,
  table: OrderTable,
  terminal: Terminal,
  remove: Parameters<typeof openLeftovers>[0]["remove"],
): Promise<ExitCode> {
  const startedAtMs = performance.now();
  const observer = createObserver(terminal);
  const leftovers = await openLeftovers({ command: "create-table", terminal, remove });
  const thing = { kind: "table", name: table.path, at: withoutLogin(databaseUrl) } as const;
  try {
    await leftovers.making(thing);
    const rows = await createOrderTable(database, table, {
      interrupt: terminal.interrupt,
      onProgress: (done) =>
        observer.observe(() => ({
          phase: `making ${table.path}`,
          done,
          total: table.rows,
          unit: "rows",
          perSecond: (done / (performance.now() - startedAtMs)) * 1e3,
        })),
    });
    observer.end();
    if (terminal.interrupt.aborted) {
      terminal.stderr.write(`interrupted after ${formatCount(rows)} rows: the table is dropped.\n`);
      return exitCodes.interrupted;
    }
    await leftovers.gone(thing); // it is to stay
    const seconds = ((performance.now() - startedAtMs) / 1e3).toFixed(1);
    await write(terminal.stdout, `${table.path}: ${formatCount(rows)} rows from seed ${table.seed}, in ${seconds} s\n`);
    return exitCodes.ok;
  } finally {
    observer.end();
    await leftovers.close();
  }
}
