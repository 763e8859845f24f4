import { SchemaRegistry } from "@kafkajs/confluent-schema-registry";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createRegistry, fromKafkaJsRegistry } from "./index.ts";
import { answers, failureOf, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

const noRetry = { retries: 0 };

describe("a registry of @kafkajs/confluent-schema-registry", () => {
  test("gives the schema as it was registered, with everything that says what a column means", async () => {
    const schema = JSON.stringify({
      type: "record",
      name: "Order",
      fields: [{ name: "at", type: { type: "long", "connect.name": "io.debezium.time.MicroTimestamp", "connect.parameters": { a: "b" } } }],
    });
    const server = await serve(answers({ "/schemas/ids/7": { schema } }));
    const schemas = fromKafkaJsRegistry(new SchemaRegistry({ host: server.url }));
    expect(schemas.peek(7)).toBeUndefined();
    expect(await schemas.load(7)).toEqual({ id: 7, schemaType: "AVRO", schema });
    expect(schemas.peek(7)?.schema).toBe(schema);
  });

  test("asks with the credentials that it was made with", async () => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    await fromKafkaJsRegistry(new SchemaRegistry({ host: server.url, auth: { username: "u", password: "p" } })).load(7);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("u:p").toString("base64")}`);
  });

  test("gives the same as our own client, references included", async () => {
    const server = await serve(
      answers({
        "/schemas/ids/7": { schema: "root", schemaType: "PROTOBUF", references: [{ name: "a.proto", subject: "inv/a b", version: 2 }] },
        "/subjects/inv%2Fa%20b/versions/2": { schema: "a", references: [{ name: "b.proto", subject: "b", version: 1 }] },
        "/subjects/b/versions/1": { schema: "b" },
      }),
    );
    const ours = await createRegistry({ url: server.url }).load(7);
    const theirs = await fromKafkaJsRegistry(new SchemaRegistry({ host: server.url })).load(7);
    expect(theirs).toEqual(ours);
    expect(theirs.references?.map((reference) => reference.name)).toEqual(["b.proto", "a.proto"]);
  });

  test("asks once for a thousand that wait", async () => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    const schemas = fromKafkaJsRegistry(new SchemaRegistry({ host: server.url }));
    await Promise.all(Array.from({ length: 1_000 }, () => schemas.load(7)));
    expect(server.requests.length).toBe(1);
  });

  test.each([
    [404, "not-found", "does it ask the registry that the producer wrote to"],
    [401, "refused", "check its address and credentials"],
    [503, "unavailable", "ask again later"],
    [429, "unavailable", "ask again later"],
  ])("tells what a status of %i means, and shows nothing of its configuration", async (status, code, advice) => {
    const server = await serve((_, response) => json(response, status, { error_code: 40403, message: "Schema canary not found" }));
    const registry = new SchemaRegistry({ host: server.url, auth: { username: "canary", password: "canary" }, retry: noRetry });
    const failure = await failureOf(fromKafkaJsRegistry(registry).load(7));
    expect(failure).toMatchObject({ code, status, id: 7 });
    expect(failure.message).toContain(advice);
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain("canary");
  });

  test("tells that a registry is gone, or answers something else", async () => {
    const gone = await serve(answers({}));
    await gone.close();
    const failure = await failureOf(fromKafkaJsRegistry(new SchemaRegistry({ host: gone.url, retry: noRetry })).load(7));
    expect(failure.code).toBe("unavailable");
    const page = await serve((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"));
    expect((await failureOf(fromKafkaJsRegistry(new SchemaRegistry({ host: page.url })).load(7))).code).toBe("unavailable");
    const proxy = await serve((_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<html>not found</html>"));
    const registry = new SchemaRegistry({ host: proxy.url, retry: noRetry });
    expect(await failureOf(fromKafkaJsRegistry(registry).load(7))).toMatchObject({ code: "unavailable", isRegistry: false });
  });

  test("is not waited for longer than asked, which its own client knows no bound for", async () => {
    const server = await serve(() => undefined);
    const clock = new TestClock();
    const schemas = fromKafkaJsRegistry(new SchemaRegistry({ host: server.url, retry: noRetry }), { clock, timeoutMs: 10_000 });
    const failing = failureOf(schemas.load(7));
    await server.arrived(1);
    clock.passDeadlines();
    expect((await failing).message).toContain("did not answer schema id 7 within 10000 ms");
  });

  test("has numbers for ids only", async () => {
    const server = await serve(answers({}));
    const schemas = fromKafkaJsRegistry(new SchemaRegistry({ host: server.url }));
    expect((await failureOf(schemas.load("../subjects"))).code).toBe("refused");
    expect(server.requests.length).toBe(0);
  });

  test("is told from something else at once", () => {
    const other = { getSchema: async () => undefined, getLatestSchemaId: async () => 1 };
    expect(() => fromKafkaJsRegistry(other)).toThrow("expects a SchemaRegistry of @kafkajs/confluent-schema-registry 3 or 4");
  });
});
