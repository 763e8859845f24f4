import { readFileSync } from "node:fs";
import { BenchError } from "../../bench-error.ts";
import type { ConnectorConfig } from "../../load/connect.ts";
import { databaseKindOf } from "../../load/database.ts";
import type { Terminal } from "../../terminal.ts";
import { isConverterSetting } from "./formats.ts";

/** What one connector of a run is called, in all the places where it leaves something. */
export interface ConnectorNames {
  readonly connector: string;
  /** The start of its topics' names: they follow as `PREFIX.schema.table`. */
  readonly topicPrefix: string;
  /** The replication slot and the publication, if its database has such. */
  readonly slot: string;
}

/**
 * A connector of the user's own: `{"name", "config"}`, or the configuration alone. `${NAME}` is filled in from the environment; what
 * Connect fills in itself, such as `${file:...}`, stays.
 */
export function readTemplate(file: string, env: Terminal["env"]): ConnectorConfig {
  const config = configIn(file);
  const filled = Object.entries(config).map(([name, value]) => {
    const text = String(value).replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, variable: string) => {
      const found = env[variable];
      if (found === undefined) {
        throw new BenchError("usage", `${file}: ${name} names \${${variable}}: set the environment variable ${variable}.`);
      }
      return found;
    });
    return [name, text];
  });
  const template = Object.fromEntries(filled) as ConnectorConfig;
  if (template["connector.class"] === undefined) {
    throw new BenchError("usage", `${file}: a connector has a "connector.class", and this has none.`);
  }
  return template;
}

function configIn(file: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "unknown reason";
    throw new BenchError("usage", `${file}: the connector of --connector cannot be read (${reason}).`, { cause });
  }
  try {
    const value = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    return (typeof value["config"] === "object" && value["config"] !== null ? value["config"] : value) as Readonly<Record<string, unknown>>;
  } catch {
    // The parser's message would quote the file, which may hold a password.
    throw new BenchError("usage", `${file}: expected a connector as JSON, {"name": "...", "config": {...}}.`);
  }
}

/** A connector for the database of an address, which Connect must be able to reach under the same name. */
export function templateOf(databaseUrl: string, env: Terminal["env"]): ConnectorConfig {
  const url = new URL(databaseUrl);
  const isPostgres = databaseKindOf(databaseUrl) === "postgresql";
  const database = decodeURIComponent(url.pathname.slice(1));
  const password = decodeURIComponent(url.password) || env[isPostgres ? "PGPASSWORD" : "MARIADB_PASSWORD"] || "";
  const common = {
    "tasks.max": "1",
    "database.hostname": url.hostname.replaceAll(/[[\]]/g, ""),
    "database.port": url.port || (isPostgres ? "5432" : "3306"),
    "database.user": decodeURIComponent(url.username),
    "database.password": password,
    "poll.interval.ms": "100",
    "producer.override.batch.size": "262144",
    "producer.override.linger.ms": "20",
  };
  if (isPostgres) {
    return {
      ...common,
      "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
      "database.dbname": database,
      "plugin.name": "pgoutput",
      "publication.autocreate.mode": "filtered",
    };
  }
  return {
    ...common,
    "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
    "database.include.list": database,
    "database.ssl.mode": "disable",
    "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
    "schema.history.internal.store.only.captured.tables.ddl": "true",
  };
}

/** The whole connector: the template with names, table and format of one measurement. What it would share with the user's own is replaced. */
export function connectorConfig(
  template: ConnectorConfig,
  names: ConnectorNames,
  table: string,
  converters: ConnectorConfig,
): ConnectorConfig {
  const kept = Object.fromEntries(Object.entries(template).filter(([name]) => name !== "name" && !isConverterSetting(name)));
  const isPostgres = (template["connector.class"] ?? "").includes("postgresql");
  const history = template["schema.history.internal.kafka.topic"] !== undefined;
  return {
    ...kept,
    ...converters,
    "topic.prefix": names.topicPrefix,
    "table.include.list": table,
    "snapshot.mode": "initial",
    ...(isPostgres
      ? { "slot.name": names.slot, "publication.name": names.slot }
      : { "database.server.id": String(serverIdOf(names.topicPrefix)), "include.schema.changes": "false" }),
    ...(history && { "schema.history.internal.kafka.topic": `${names.topicPrefix}.schema-history` }),
  };
}

/** Each connector is a replica of its own, with an id that no other replica should have. */
function serverIdOf(prefix: string): number {
  let hash = 0;
  for (const character of prefix) {
    hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  }
  return 100_000 + (hash % 1_000_000_000);
}

const reportedSettings =
  /^(connector\.class|tasks\.max|plugin\.name|snapshot\.[\w.]+|poll\.interval\.ms|max\.(batch|queue)\.[\w.]+|producer\.override\.(batch\.size|linger\.ms|compression\.type|acks|buffer\.memory)|(decimal|binary)\.handling\.mode|time\.precision\.mode|transforms|transforms\.\w+\.type)$/;

/** The settings that figures depend on. No others: theirs may be secrets. */
export function reportedConnector(template: ConnectorConfig): ConnectorConfig {
  return Object.fromEntries(Object.entries(template).filter(([name]) => reportedSettings.test(name)));
}
