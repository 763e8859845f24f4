import { existsSync, readFileSync } from "node:fs";

/** The schema that is replicated, and its tables. They have the same names in both databases. */
export const schema = "store";
export const tables = ["customers", "orders", "order_lines", "prices"];

/** The connector, its slot, its publication, and what its topics begin with. */
export const connectorName = "replicate_store";

/**
 * Where everything is: as the environment says, else the stack of `npm run stack:up`, else that of docker/compose.yml. The replica is the
 * database `replica` on the server of the source, unless REPLICA_URL names another one.
 * @returns {{ brokers: string[], registryUrl: string, connectUrl: string, sourceUrl: string, replicaUrl: string }}
 */
export function addresses() {
  const state = new URL("../../.stack/state.json", import.meta.url);
  const stack = existsSync(state) ? JSON.parse(readFileSync(state, "utf8")).addresses : null;
  const brokers = process.env["KAFKA_BROKERS"] ?? stack?.brokers ?? "127.0.0.1:29092";
  const registryUrl = process.env["SCHEMA_REGISTRY_URL"] ?? stack?.registryUrl ?? "http://127.0.0.1:8081/apis/ccompat/v7";
  const connectUrl = process.env["CONNECT_URL"] ?? stack?.connectUrl ?? "http://127.0.0.1:8083";
  const database = stack?.postgres ?? { host: "127.0.0.1", port: 5432, user: "cdckit", password: "cdckit", database: "sales" };
  const sourceUrl = process.env["DATABASE_URL"] ?? urlOf(database);
  const replicaUrl = process.env["REPLICA_URL"] ?? withDatabase(sourceUrl, "replica");
  return { brokers: brokers.split(","), registryUrl, connectUrl, sourceUrl, replicaUrl };
}

/** The same server, another database. @param {string} url @param {string} database */
export function withDatabase(url, database) {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** @param {{ host: string, port: number, user: string, password: string, database: string }} database */
function urlOf({ host, port, user, password, database }) {
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
}
