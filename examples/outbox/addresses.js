import { existsSync, readFileSync } from "node:fs";

/**
 * Where everything is: as the environment says, else the stack of `npm run stack:up`, else that of docker/compose.yml.
 * @returns {{ brokers: string[], registryUrl: string, connectUrl: string, connectionString: string }}
 */
export function addresses() {
  const state = new URL("../../.stack/state.json", import.meta.url);
  const stack = existsSync(state) ? JSON.parse(readFileSync(state, "utf8")).addresses : null;
  const brokers = process.env["KAFKA_BROKERS"] ?? stack?.brokers ?? "127.0.0.1:29092";
  const registryUrl = process.env["SCHEMA_REGISTRY_URL"] ?? stack?.registryUrl ?? "http://127.0.0.1:8081/apis/ccompat/v7";
  const connectUrl = process.env["CONNECT_URL"] ?? stack?.connectUrl ?? "http://127.0.0.1:8083";
  const database = stack?.postgres ?? { host: "127.0.0.1", port: 5432, user: "cdckit", password: "cdckit", database: "sales" };
  const connectionString = process.env["DATABASE_URL"] ?? urlOf(database);
  return { brokers: brokers.split(","), registryUrl, connectUrl, connectionString };
}

/** @param {{ host: string, port: number, user: string, password: string, database: string }} database */
function urlOf({ host, port, user, password, database }) {
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
}
