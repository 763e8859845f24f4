import { fillIn, readConnectors, topicsOf } from "./connectors.mjs";

/** What docker/compose.yml calls the parts among themselves, which is where Connect finds them. */
export const composeValues = Object.freeze({
  POSTGRES_HOST: "postgres",
  POSTGRES_PORT: "5432",
  POSTGRES_USER: "cdckit",
  POSTGRES_PASSWORD: "cdckit",
  POSTGRES_DB: "sales",
  REGISTRY_URL: "http://registry:8080/apis/registry/v2",
});

/** The same for the databases that profiles of the compose file start. */
export const profileValues = Object.freeze({
  ...composeValues,
  BROKERS: "kafka:9092,kafka-2:9092",
  MYSQL_HOST: "mysql",
  MYSQL_PORT: "3306",
  MYSQL_USER: "cdckit",
  MYSQL_PASSWORD: "cdckit",
  SQLSERVER_HOST: "sqlserver",
  SQLSERVER_PORT: "1433",
  SQLSERVER_USER: "sa",
  SQLSERVER_PASSWORD: "Cdckit-2022",
});

/**
 * Where this machine finds the stack of docker/compose.yml.
 * @param {string} tables
 * @returns {import("./state.mjs").StackAddresses}
 */
export function composeAddresses(tables) {
  const connectors = readConnectors();
  return {
    brokers: "127.0.0.1:29092",
    registryUrl: "http://127.0.0.1:8081/apis/ccompat/v7",
    converterUrl: "http://127.0.0.1:8081/apis/registry/v2",
    connectUrl: "http://127.0.0.1:8083",
    postgres: { host: "127.0.0.1", port: 5432, user: "cdckit", password: "cdckit", database: "sales" },
    connectors: connectors.map(({ name }) => name),
    topics: connectors.flatMap((connector) => topicsOf(fillIn(connector, { ...composeValues, TABLES: tables }))),
  };
}
