import { expect, test } from "vitest";
import { hostOf } from "./host.ts";
import type { PostgresPool } from "./options.ts";

function poolOf(options: object): PostgresPool {
  return { connect: () => Promise.reject(new Error("not asked for")), end: () => Promise.resolve(), options } as PostgresPool;
}

test.each([
  [{ pool: null, connectionString: "postgres://user:secret@db.example.com:6432/shop" }, {}, "db.example.com:6432/shop"],
  [{ pool: null, connectionString: "postgres://db.example.com" }, {}, "db.example.com:5432"],
  [{ pool: null, connectionString: "postgres:///shop?host=/var/run" }, {}, "/var/run:5432/shop"],
  [{ pool: null, connectionString: null }, { PGHOST: "db", PGPORT: "1", PGDATABASE: "shop" }, "db:1/shop"],
  [{ pool: poolOf({ host: "db", port: 5433, database: "shop", password: "secret" }), connectionString: null }, {}, "db:5433/shop"],
  [{ pool: poolOf({ connectionString: "postgres://u:p@db/shop" }), connectionString: null }, {}, "db:5432/shop"],
])("a sink is named by its address, without user and password (%#)", (options, env, host) => {
  expect(hostOf(options, env)).toBe(host);
});
