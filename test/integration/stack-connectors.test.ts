import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import pg from "pg";
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
  moreConnectors,
  readConnectors,
} from "../../scripts/stack/connectors.mjs";
import { endOffsets } from "../../scripts/stack/topics.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
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
    for (const connector of [...readConnectors(), ...readConnectors(moreConnectors)]) {
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
    const wrong = {
      ...first,
      "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
      "snapshot.mode": "sometimes",
      "table.list": "t",
    };
    expect(await complaintsOf(stack().connectUrl, "wrong", wrong)).toEqual([
      expect.stringContaining("snapshot.mode: "),
      "table.list: MariaDbConnector has no such setting",
    ]);
  });

  /** Settings of Connect, of converters and of clients, which a connector does not list; the last one is Debezium's, and not listed either. */
  const ofOthers =
    /^((key|value)\.converter\.|producer\.override\.|schema\.history\.internal\.kafka\.|topic\.creation\.|field\.name\.adjustment\.mode$)/;

  /** What Connect says against a configuration, and the settings that the connector does not list: Connect lets them pass. */
  async function complaintsOf(connectUrl: string, name: string, config: Readonly<Record<string, string>>): Promise<string[]> {
    const plugin = config["connector.class"]?.split(".").at(-1) ?? "";
    const response = await fetch(`${connectUrl}/connector-plugins/${plugin}/config/validate`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, ...config }),
    });
    const { configs } = (await response.json()) as { configs: { value: { name: string; errors: string[] } }[] };
    const known = new Set(configs.map(({ value }) => value.name));
    const unknown = Object.keys(config).filter((key) => !known.has(key) && !ofOthers.test(key));
    return [
      ...configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`)),
      ...unknown.map((key) => `${key}: ${plugin} has no such setting`),
    ];
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

  test("apicurio-avro is deployed, and names the schemas of its rows in headers", async () => {
    const { connectUrl, postgres, converterUrl, brokers, registryUrl } = stack();
    const [definition] = readConnectors(moreConnectors);
    if (definition === undefined) throw new Error("docker/connectors/more is empty");
    const client = new pg.Client({ ...postgres });
    await client.connect();
    await client.query(`create table sales.apicurio (id int primary key); insert into sales.apicurio values (7)`);
    const apicurio = fillIn(definition, connectorValues(postgres, converterUrl, "sales.apicurio"));
    try {
      await deployConnector(connectUrl, apicurio);
      await waitUntil({
        what: "the topic of apicurio-avro",
        deadlineMs: 60_000,
        check: async () => (await endOffsets(brokers, ["ap.sales.apicurio"]))[0] === 1,
      });
      const url = registryUrl.replace(/\/apis\/.*/, "/apis/registry/v2");
      const consumer = createConsumer({
        driver: kafkajs({ brokers: [brokers] }),
        groupId: "apicurio-avro",
        topics: ["ap.sales.apicurio"],
        from: "earliest",
        registry: { url },
        signals: false,
      });
      const seen: unknown[] = [];
      consumer.on("*", (event) => {
        seen.push([event.framing, event.encoding, event.kind === "change" && event.after]);
        void consumer.stop();
      });
      await consumer.run();
      expect(seen).toEqual([["apicurio", "avro", { id: 7 }]]);
    } finally {
      await deleteConnector(connectUrl, apicurio.name);
      await client.query("drop table sales.apicurio; drop publication if exists cdckit_ap");
      await client.query(
        "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'cdckit_ap' and not active",
      );
      await client.end();
    }
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
