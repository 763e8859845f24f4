import { connectorConfig, deployConnector } from "./connectors.mjs";
import { withDatabase } from "./postgres.mjs";
import { createTopics } from "./topics.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * Lets the connectors of a running stack follow more tables. Returns when what is written to them becomes events.
 * @param {import("./state.mjs").StackAddresses} stack
 * @param {readonly string[]} tables `schema.table`, which must exist
 * @param {AbortSignal} [signal]
 */
export async function followTables(stack, tables, signal) {
  for (const name of stack.connectors) {
    const config = await connectorConfig(stack.connectUrl, name);
    const followed = (config["table.include.list"] ?? "").split(",");
    const missing = tables.filter((table) => !followed.includes(table));
    if (missing.length > 0) {
      await createTopics(
        stack.brokers,
        missing.map((table) => `${config["topic.prefix"]}.${table}`),
      );
      const wider = { ...config, "table.include.list": [...followed, ...missing].join(",") };
      await deployConnector(stack.connectUrl, { name, config: wider }, { signal });
    }
    await untilPublished(stack, config, tables, signal);
  }
}

/**
 * PostgreSQL publishes a change by what the publication says when the change is written, so that a row which comes before the connector
 * has altered its publication never becomes an event.
 * @param {import("./state.mjs").StackAddresses} stack
 * @param {Readonly<Record<string, string>>} config
 * @param {readonly string[]} tables
 * @param {AbortSignal | undefined} signal
 */
function untilPublished({ postgres }, config, tables, signal) {
  const sql = "select from pg_publication_tables where pubname = $1 and schemaname || '.' || tablename = any($2)";
  return waitUntil({
    what: `connector ${config["name"]}`,
    deadlineMs: 60_000,
    signal,
    check: () =>
      withDatabase(postgres, async (client) => {
        const { rowCount } = await client.query(sql, [config["publication.name"], tables]);
        return rowCount === tables.length;
      }),
  });
}
