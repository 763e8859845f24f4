import { describe, expect, test } from "vitest";
import {
  type Connector,
  connectorsOf,
  connectorState,
  connectorValues,
  defaultTables,
  deleteConnector,
  deployConnector,
  fillIn,
  readConnectors,
} from "../../scripts/stack/connectors.mjs";
import { type SharedStack, withMariadb, withStack } from "./stack.ts";

const found = await withStack();

describe.skipIf(found.skip !== false)("connectors on a real Kafka Connect", { meta: { skipReason: String(found.skip) } }, () => {
  test("all three definitions of docker/connectors run", async () => {
    const { connectUrl, connectors } = stack();
    expect(connectors).toHaveLength(3);
    for (const name of connectors) {
      expect(await connectorState(connectUrl, name)).toEqual({ name, state: "RUNNING", reason: "" });
    }
  });

  test("Connect finds nothing to say against the definitions of docker/connectors", async () => {
    const { connectUrl, postgres, converterUrl } = stack();
    for (const connector of readConnectors()) {
      const { config } = fillIn(connector, connectorValues(postgres, converterUrl, defaultTables));
      expect(await complaintsOf(connectUrl, connector.name, config)).toEqual([]);
    }
  });

  test("Connect knows what docker/connectors says of MySQL: MariaDB's connector has the same settings", async (context) => {
    const mariadb = await withMariadb();
    if (mariadb.skip !== false) {
      context.skip(mariadb.skip);
      return;
    }
    const { host, port, user, password } = mariadb.part.database;
    const values = {
      ...{ MYSQL_HOST: host, MYSQL_PORT: String(port), MYSQL_USER: user, MYSQL_PASSWORD: password ?? "" },
      ...{ BROKERS: stack().brokers, REGISTRY_URL: stack().converterUrl, TABLES: defaultTables },
    };
    for (const connector of connectorsOf("mysql")) {
      const config = { ...fillIn(connector, values).config, "connector.class": "io.debezium.connector.mariadb.MariaDbConnector" };
      expect(await complaintsOf(stack().connectUrl, connector.name, config)).toEqual([]);
    }
    const [first] = connectorsOf("mysql").map((connector) => fillIn(connector, values).config);
    const wrong = { ...first, "connector.class": "io.debezium.connector.mariadb.MariaDbConnector", "snapshot.mode": "sometimes" };
    expect(await complaintsOf(stack().connectUrl, "wrong", wrong)).toEqual([expect.stringContaining("snapshot.mode")]);
  });

  /** What Connect says against a configuration, with the names of settings that the connector does not know. */
  async function complaintsOf(connectUrl: string, name: string, config: Readonly<Record<string, string>>): Promise<string[]> {
    const plugin = config["connector.class"]?.split(".").at(-1) ?? "";
    const response = await fetch(`${connectUrl}/connector-plugins/${plugin}/config/validate`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, ...config }),
    });
    const { configs } = (await response.json()) as { configs: { value: { name: string; errors: string[] } }[] };
    expect(configs.length).toBeGreaterThan(50);
    return configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`));
  }

  test("one more is deployed, seen, and deleted", async () => {
    const { connectUrl } = stack();
    const extra = plainJson("one-more", { "slot.name": "one_more", "publication.name": "one_more", "topic.prefix": "one_more" });
    expect((await connectorState(connectUrl, "one-more")).state).toBe("not deployed");
    await deployConnector(connectUrl, extra);
    await deployConnector(connectUrl, extra); // deploying again is no error
    expect((await connectorState(connectUrl, "one-more")).state).toBe("RUNNING");
    expect(await deleteConnector(connectUrl, "one-more")).toBe(true);
    expect(await deleteConnector(connectUrl, "one-more")).toBe(false);
  });

  test("one that Connect refuses is told with Connect's own reason", async () => {
    const refused = deployConnector(stack().connectUrl, plainJson("refused", { "database.password": "wrong" }));
    await expect(refused).rejects.toThrow(
      /^\[connector-failed\] Kafka Connect refused the connector refused \(HTTP 400\): .*password authentication failed/s,
    );
  });

  test("a Connect that is not there is told with what to do", async () => {
    const gone = connectorState("http://127.0.0.1:1", "x");
    await expect(gone).rejects.toThrow(/^\[not-running\] Kafka Connect does not answer at http:\/\/127\.0\.0\.1:1\. Is the stack up/);
  });

  function stack(): SharedStack {
    if (found.skip !== false) throw new Error("unreachable: the suite is skipped");
    return found.part;
  }

  function plainJson(name: string, config: Readonly<Record<string, string>>): Connector {
    const { postgres, converterUrl } = stack();
    const template = readConnectors().find((connector) => connector.name === "json");
    if (template === undefined) throw new Error("docker/connectors/json.json is gone");
    const filled = fillIn(template, connectorValues(postgres, converterUrl, defaultTables));
    return { name, config: { ...filled.config, ...config } };
  }
});
