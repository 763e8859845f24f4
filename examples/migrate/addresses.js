import { existsSync, readFileSync } from "node:fs";

/**
 * Where Kafka and the registry are: as the environment says, else the stack of `npm run stack:up`, else that of docker/compose.yml.
 * @returns {{ brokers: string[], registryUrl: string }}
 */
export function addresses() {
  const state = new URL("../../.stack/state.json", import.meta.url);
  const stack = existsSync(state) ? JSON.parse(readFileSync(state, "utf8")).addresses : null;
  const brokers = process.env["KAFKA_BROKERS"] ?? stack?.brokers ?? "127.0.0.1:29092";
  const registryUrl = process.env["SCHEMA_REGISTRY_URL"] ?? stack?.registryUrl ?? "http://127.0.0.1:8081/apis/ccompat/v7";
  return { brokers: brokers.split(","), registryUrl };
}
