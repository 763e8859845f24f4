import { describe, expect, test } from "vitest";
import {
  type Connector,
  connectorState,
  connectorValues,
  defaultTables,
  deleteConnector,
  deployConnector,
  fillIn,
  readConnectors,
} from "../../scripts/stack/connectors.mjs";
import { type SharedStack, withStack } from "./stack.ts";

const found = await withStack();

describe.skipIf(found.skip !== false)("connectors on a real Kafka Connect", { meta: { skipReason: String(found.skip) } }, () => {
  test("all three definitions of docker/connectors run", async () => {
    const { connectUrl, connectors } = stack();
    expect(connectors).toHaveLength(3);
    for (const name of connectors) {
      expect(await connectorState(connectUrl, name)).toEqual({ name, state: "RUNNING", reason: "" });
    }
  });

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
