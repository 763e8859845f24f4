import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll } from "vitest";
import { type RunningPostgres, startPostgres } from "../../scripts/stack/postgres.mjs";

/** A PostgreSQL of the test file's own, and a pool of connections to it. Both end after its tests. */
export async function ownPostgres(options: pg.PoolConfig = {}): Promise<{ readonly server: RunningPostgres; readonly pool: pg.Pool }> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-postgres-"));
  const server = await startPostgres({ dir });
  const pool = new pg.Pool({ ...server.database, ...options });
  pool.on("error", () => {}); // the server ends idle connections when it is stopped, and some tests end them on purpose
  afterAll(async () => {
    await pool.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return { server, pool };
}
