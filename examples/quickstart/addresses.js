import { existsSync, readFileSync } from "node:fs";
import { readClientEnvironment } from "cdckit";

/**
 * Where Kafka and the registry are, and how to log in: as the environment says, else the stack of `npm run stack:up`, else that of
 * docker/compose.yml.
 * @returns {import("cdckit").ClientEnvironment}
 */
export function connections() {
  const state = new URL("../../.stack/state.json", import.meta.url);
  const stack = existsSync(state) ? JSON.parse(readFileSync(state, "utf8")).addresses : null;
  const { KAFKA_BROKERS, KAFKA_BOOTSTRAP_SERVERS, SCHEMA_REGISTRY_URL } = process.env;
  return readClientEnvironment({
    ...process.env,
    ...(!KAFKA_BROKERS && !KAFKA_BOOTSTRAP_SERVERS && { KAFKA_BROKERS: stack?.brokers ?? "127.0.0.1:29092" }),
    SCHEMA_REGISTRY_URL: SCHEMA_REGISTRY_URL || (stack?.registryUrl ?? "http://127.0.0.1:8081/apis/ccompat/v7"),
  });
}
