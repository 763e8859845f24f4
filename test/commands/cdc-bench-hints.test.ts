import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createDecoder, type TopicHints } from "@cdckit/decode";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningPostgres, startPostgres, withDatabase } from "../../scripts/stack/postgres.mjs";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "cdckit-hints-"));
let server: RunningPostgres;

beforeAll(async () => {
  server = await startPostgres({ dir });
});

afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("cdc-bench hints reads from PostgreSQL what the columns of a table mean", async () => {
  await withDatabase(server.database, (client) =>
    client.query(
      `create extension ltree;
       create type mood as enum ('sad', 'happy');
       alter type mood add value 'so, so' before 'happy';
       create domain serial_number as uuid;
       create table typed (id bigint primary key, price numeric(10, 2), free numeric, day date, at timestamp, at_ms timestamp(3), zoned timestamptz,
         clock time, raw bytea, bits bit(10), doc jsonb, name text, amount integer, key uuid, serial serial_number, page xml, path ltree,
         words tsvector, span interval, feeling mood, keys uuid[], feelings mood[], address inet)`,
    ),
  );
  const { user, password, host, port, database } = server.database;
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const args = ["hints", "--from", url, "--for", "shop.public.typed"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] } });
  expect(stderr).toBe("");
  const topics = JSON.parse(stdout) as Record<string, TopicHints>;
  expect(topics).toEqual({
    "shop.public.typed": {
      columns: {
        price: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
        free: "io.debezium.data.VariableScaleDecimal",
        day: "io.debezium.time.Date",
        at: "io.debezium.time.MicroTimestamp",
        at_ms: "io.debezium.time.Timestamp",
        zoned: "io.debezium.time.ZonedTimestamp",
        clock: "io.debezium.time.MicroTime",
        raw: "bytes",
        bits: { name: "io.debezium.data.Bits", parameters: { length: "10" } },
        doc: "io.debezium.data.Json",
        key: "io.debezium.data.Uuid",
        serial: "io.debezium.data.Uuid",
        page: "io.debezium.data.Xml",
        path: "io.debezium.data.Ltree",
        words: "io.debezium.data.Tsvector",
        span: "io.debezium.time.MicroDuration",
        feeling: { name: "io.debezium.data.Enum", parameters: { allowed: "sad,so\\, so,happy" } },
      },
    },
  });
  expect(() => createDecoder({ topics })).not.toThrow();
  await expect(promisify(execFile)(process.execPath, [binary, ...args, "--table", "public.nowhere"])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no table public.nowhere"),
  });
});
