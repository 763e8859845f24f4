import { describe, expect, test } from "vitest";
import { createRegistry } from "./registry.ts";
import { answers, failureOf, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

const order = '{"type":"record","name":"Order","fields":[{"name":"to","type":"n.Address"}]}';
const address = '{"type":"record","name":"Address","namespace":"n","fields":[]}';
const root = "/apis/registry/v3";

/** What Apicurio 3.0.9 answers, cut to what is read. */
const apicurio: Readonly<Record<string, unknown>> = {
  [`${root}/ids/contentIds/5`]: JSON.parse(order),
  [`${root}/ids/contentIds/5/references`]: [{ groupId: "g 1", artifactId: "addr", version: "1", name: "n.Address" }],
  [`${root}/search/versions?contentId=5`]: { count: 1, versions: [{ artifactType: "AVRO", globalId: 9, contentId: 5 }] },
  [`${root}/ids/globalIds/5`]: { type: "struct", fields: [], optional: false },
  [`${root}/ids/globalIds/5/references`]: [],
  [`${root}/search/versions?globalId=5`]: { count: 1, versions: [{ artifactType: "KCONNECT", globalId: 5, contentId: 2 }] },
  [`${root}/groups/g%201/artifacts/addr/versions/1`]: { artifactType: "AVRO", globalId: 3, contentId: 1, version: "1" },
  [`${root}/ids/globalIds/3`]: JSON.parse(address),
  [`${root}/ids/globalIds/3/references`]: [],
  [`${root}/search/versions?globalId=3`]: { count: 1, versions: [{ artifactType: "AVRO" }] },
  [`${root}/ids/contentHashes/abc`]: { type: "object", properties: {} },
  [`${root}/ids/contentHashes/abc/references`]: [],
  [`${root}/groups/default/artifacts/orders/versions/branch=latest`]: { artifactType: "AVRO", globalId: 3, contentId: 1, version: "2" },
  [`${root}/search/artifacts?limit=500&offset=0`]: {
    artifacts: [
      { groupId: "default", artifactId: "orders" },
      { groupId: "g 1", artifactId: "addr" },
    ],
  },
  [`${root}/system/info`]: { name: "Apicurio Registry (In Memory)", version: "3.0.9" },
};

describe("a registry asked by Apicurio's own API", () => {
  test("a content id and a global id of the same number are two schemas", async () => {
    const server = await serve(answers(apicurio));
    const registry = createRegistry({ url: server.url + root });
    expect(await registry.load("contentId:5")).toEqual({
      id: "contentId:5",
      schemaType: "AVRO",
      schema: order,
      references: [{ name: "n.Address", schema: address }],
    });
    expect(await registry.load("globalId:5")).toMatchObject({ id: "globalId:5", schemaType: "KCONNECT" });
    expect(registry.peek("contentId:5")?.schemaType).toBe("AVRO");
  });

  test("what one question of a schema waits for is known until that question is answered, whatever others answer meanwhile", async () => {
    const failures: unknown[] = [];
    const server = await serve((request, response, count) => {
      failures.push((registry.lastFailure?.("contentId:5") as { status?: number } | undefined)?.status);
      return count === 1 ? json(response, 503, {}) : answers(apicurio)(request, response, count);
    });
    const registry = createRegistry({ url: server.url + root, clock: new TestClock(), concurrency: 1 });
    await registry.load("contentId:5");
    expect(failures.slice(0, 4)).toEqual([undefined, 503, 503, 503]); // its type, its text, its references, its type again
    expect(registry.lastFailure?.("contentId:5")).toBeUndefined();
  });

  test.each([
    [undefined, "AVRO"],
    ["contentId", "AVRO"],
    ["globalId", "KCONNECT"],
  ] as const)("an id that is a mere number is what numericIds says: %s", async (numericIds, schemaType) => {
    const server = await serve(answers(apicurio));
    const registry = createRegistry({ url: server.url + root, ...(numericIds === undefined ? {} : { numericIds }) });
    expect(await registry.load(5)).toMatchObject({ id: 5, schemaType });
  });

  test("a content hash has the type of its text, and an artifact that of its version", async () => {
    const server = await serve(answers(apicurio));
    const registry = createRegistry({ url: server.url + root });
    expect(await registry.load("contentHash:abc")).toMatchObject({ schemaType: "JSON" });
    expect(await registry.load("artifact:g%201/addr/1")).toMatchObject({ schemaType: "AVRO", schema: address });
  });

  const nested = (depth: number): object => ({
    type: "record",
    name: `R${depth}`,
    fields: depth === 0 ? [] : [{ name: "inner", type: ["null", nested(depth - 1)] }],
  });
  test.each<[string, unknown, string]>([
    ["records in records", nested(20), "AVRO"],
    ["a map of Avro", { type: "map", values: "long" }, "AVRO"],
    ["a primitive of Avro", { type: "long" }, "AVRO"],
    ["lists in lists", JSON.parse(`${'{"type":"array","items":'.repeat(40)}{}${"}".repeat(40)}`), "JSON"],
    ["a schema without a type", { $ref: "#/$defs/a" }, "JSON"],
    ["a map of Connect", { type: "map", keys: { type: "string" }, values: { type: "int32" }, optional: false }, "KCONNECT"],
  ])("the text of a content hash says its type: %s", async (_what, schema, schemaType) => {
    const server = await serve(answers({ [`${root}/ids/contentHashes/abc`]: schema, [`${root}/ids/contentHashes/abc/references`]: [] }));
    expect(await createRegistry({ url: server.url + root }).load("contentHash:abc")).toMatchObject({ schemaType });
  });

  test("a schema that it does not have is not found, by its own words for that", async () => {
    const server = await serve((_, response) => json(response, 404, { name: "ContentNotFoundException", detail: "secret", status: 404 }));
    const error = await failureOf(createRegistry({ url: server.url + root }).load("contentId:7"));
    expect(error.code).toBe("not-found");
    expect(error.message).toContain("ContentNotFoundException");
    expect(error.message).toContain("apicurio.registry.use-id");
    expect(error.message).not.toContain("secret");
  });

  test.each(["artifact:../subjects/1", "artifact:a/../1", "artifact:a/b?c/1", "artifact:a/b", "contentId:x", "contentHash:../a"])(
    "%s leads nowhere, and is not asked for",
    async (id) => {
      const server = await serve(answers(apicurio));
      const error = await failureOf(createRegistry({ url: server.url + root }).load(id));
      expect(error.code).toBe("not-found");
      expect(server.paths).toEqual([]);
    },
  );

  test.each(["groupId", "artifactId", "version"])("a reference whose %s has half of a surrogate pair is refused", async (member) => {
    const reference = { groupId: "g 1", artifactId: "addr", version: "1", name: "n.Address", [member]: "\udfff" };
    const server = await serve(answers({ ...apicurio, [`${root}/ids/contentIds/5/references`]: [reference] }));
    const error = await failureOf(createRegistry({ url: server.url + root }).load("contentId:5"));
    expect(error).toMatchObject({ code: "refused", retriable: false });
    expect(error.message).toContain("is no list of references");
  });

  test.each(["\ud800", "g/\ud800", "\ud800/a"])("the latest version of %j is refused, and not asked for", async (subject) => {
    const server = await serve(answers(apicurio));
    const error = await failureOf(createRegistry({ url: server.url + root }).latest(subject));
    expect(error.code).toBe("refused");
    expect(error.message).toContain(`subject ${JSON.stringify(subject)} has half of a surrogate pair`);
    expect(server.paths).toEqual([]);
  });

  const page = "\n<!doctype html><html><body>Sign in</body></html>";
  test.each([
    ["AVRO", page, order],
    ["AVRO", "", order],
    ["PROTOBUF", page, 'syntax = "proto3"; message Order {}'],
  ])(
    "a proxy's page with the status of a success is no schema of the type %s, and is not cached",
    async (artifactType, answer, content) => {
      let text = answer;
      const others = answers({
        [`${root}/ids/contentIds/6/references`]: [],
        [`${root}/search/versions?contentId=6`]: { versions: [{ artifactType }] },
      });
      const server = await serve((request, response, count) =>
        request.url === `${root}/ids/contentIds/6` ? response.end(text) : others(request, response, count),
      );
      const registry = createRegistry({ url: server.url + root });
      expect(await failureOf(registry.load("contentId:6"))).toMatchObject({ code: "unavailable", retriable: true, isRegistry: false });
      text = content;
      expect(await registry.load("contentId:6")).toMatchObject({ schemaType: artifactType, schema: content });
    },
  );

  test("a schema may be nested deeper than any answer of a registry", async () => {
    const schema = `${'{"type":"array","items":'.repeat(40)}"int"${"}".repeat(40)}`;
    const others = answers({
      [`${root}/ids/contentIds/6/references`]: [],
      [`${root}/search/versions?contentId=6`]: { versions: [{ artifactType: "AVRO" }] },
    });
    const server = await serve((request, response, count) =>
      request.url === `${root}/ids/contentIds/6` ? response.end(schema) : others(request, response, count),
    );
    expect(await createRegistry({ url: server.url + root }).load("contentId:6")).toMatchObject({ schemaType: "AVRO", schema });
  });

  test("a proxy's page is no schema of a content hash either", async () => {
    const others = answers({ [`${root}/ids/contentHashes/abc/references`]: [] });
    const server = await serve((request, response, count) =>
      request.url === `${root}/ids/contentHashes/abc` ? response.end(page) : others(request, response, count),
    );
    expect(await failureOf(createRegistry({ url: server.url + root }).load("contentHash:abc"))).toMatchObject({ code: "unavailable" });
  });

  test("its subjects are artifacts, with their group where it is not the default", async () => {
    const server = await serve(answers(apicurio));
    const registry = createRegistry({ url: server.url + root });
    expect(await registry.subjects()).toEqual(["orders", "g 1/addr"]);
    expect(await registry.latest("orders")).toMatchObject({ subject: "orders", id: 1, version: 2, schemaType: "AVRO" });
    expect(await registry.ping()).toMatchObject([{ ok: true, detail: expect.stringContaining("Apicurio 3.0.9") }]);
  });
});

describe("Apicurio asked by the Confluent API", () => {
  test("numbers go there, and ids that only Apicurio has to its own API beside it", async () => {
    const server = await serve(
      answers({
        "/apis/ccompat/v7/schemas/ids/5": recordAnswer("Compatible"),
        "/apis/registry/v2/ids/globalIds/5": JSON.parse(address),
        "/apis/registry/v2/ids/globalIds/5/references": [],
        "/apis/registry/v2/search/artifacts?globalId=5": { artifacts: [{ type: "AVRO" }], count: 1 },
      }),
    );
    const registry = createRegistry({ url: `${server.url}/apis/ccompat/v7` });
    expect((await registry.load(5)).schema).toContain("Compatible");
    expect((await registry.load("globalId:5")).schema).toBe(address);
    const global = createRegistry({ url: `${server.url}/apis/ccompat/v7`, numericIds: "globalId" });
    expect((await global.load(5)).schema, "its Confluent API has no global ids").toBe(address);
  });

  test("the latest version has the id by which numbers are read", async () => {
    const found = { schema: order, schemaType: "AVRO", id: 5, version: 1, subject: "orders" };
    const server = await serve(
      answers({
        "/apis/ccompat/v7/subjects/orders/versions/latest": found,
        "/apis/registry/v2/groups/default/artifacts/orders/meta": { globalId: 6, contentId: 5, version: "1", type: "AVRO" },
        "/apis/registry/v2/ids/globalIds/6": JSON.parse(order),
        "/apis/registry/v2/ids/globalIds/6/references": [],
        "/apis/registry/v2/search/artifacts?globalId=6": { artifacts: [{ type: "AVRO" }], count: 1 },
      }),
    );
    const url = `${server.url}/apis/ccompat/v7`;
    expect(await createRegistry({ url }).latest("orders")).toMatchObject({ id: 5 });
    expect(await createRegistry({ url, numericIds: "globalId" }).latest("orders")).toMatchObject({ id: 6 });
  });

  const compatible: Readonly<Record<string, unknown>> = {
    "/apis/ccompat/v7/schemas/ids/7": { schema: order, references: [{ name: "n.Address", subject: "addr", version: 1 }] },
    "/apis/ccompat/v7/subjects/addr/versions/1": { schema: address },
  };
  const page = "<html><body>404 Not Found</body></html>";
  const noResource = '{"error_code":404,"name":"NotFoundException","message":"RESTEASY003210: Could not find resource"}';

  test.each([
    ["a proxy's page", page],
    ["its own error", noResource],
  ])("if its own API is not there, and %s says so, references are resolved by the Confluent API", async (_, body) => {
    const server = await serve((request, response) => {
      const found = compatible[request.url ?? ""];
      return found === undefined ? response.writeHead(404).end(body) : json(response, 200, found);
    });
    const registry = createRegistry({ url: `${server.url}/apis/ccompat/v7`, breaker: { failures: 1, coolDownMs: 60_000 } });
    expect(await registry.load(7)).toMatchObject({ schema: order, references: [{ name: "n.Address", schema: address }] });
    expect(registry.stats().retries).toBe(0);
  });

  test("while its own API is away, a schema with references is waited for: its references may be of other groups", async () => {
    const server = await serve((request, response) => {
      const found = compatible[request.url ?? ""];
      return found === undefined ? response.writeHead(503).end() : json(response, 200, found);
    });
    const registry = createRegistry({ url: `${server.url}/apis/ccompat/v7`, retry: { attempts: 1 } });
    expect(await failureOf(registry.load(7))).toMatchObject({ code: "unavailable", status: 503 });
  });
});

describe("ids of others", () => {
  test.each([
    "glue:b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63",
    `azure:${"0".repeat(32)}`,
    "fingerprint:7275d51a3f395c8f",
    "buf:4c2c",
    "contentId:5",
  ])("%s is not found in a registry of the Confluent API, and the error says who can help", async (id) => {
    const server = await serve(answers({}));
    const error = await failureOf(createRegistry({ url: server.url }).load(id));
    expect(error.code).toBe("not-found");
    expect(error.message).toContain("fromBundle");
    expect(server.paths).toEqual([]);
  });
});

describe("which API is asked", () => {
  test("addresses of two APIs are no registry", () => {
    expect(() => createRegistry({ urls: ["http://a/apis/registry/v3", "http://b"] })).toThrow("one API");
  });

  test("Apicurio's own API must be named by its root", () => {
    expect(() => createRegistry({ url: "http://a", dialect: "apicurio" })).toThrow("/apis/registry/v3");
  });

  test("rules that change messages are told, conditions are not", async () => {
    const rule = (kind: string, more: object = {}): object => ({ ruleSet: { domainRules: [{ name: "r", kind, ...more }] } });
    const server = await serve(
      answers({
        "/schemas/ids/1": { ...recordAnswer("A"), ...rule("TRANSFORM", { mode: "WRITEREAD" }) },
        "/schemas/ids/2": { ...recordAnswer("B"), ...rule("CONDITION") },
        "/schemas/ids/3": { ...recordAnswer("C"), ...rule("TRANSFORM", { disabled: true }) },
        "/schemas/ids/4": { ...recordAnswer("D"), ruleSet: { encodingRules: [{ kind: "TRANSFORM" }] } },
        "/schemas/ids/5": { ...recordAnswer("E"), ...rule("TRANSFORM", { mode: "READ" }) },
      }),
    );
    const registry = createRegistry({ url: server.url });
    const loaded = await Promise.all([1, 2, 3, 4, 5].map((id) => registry.load(id)));
    expect(loaded.map(({ hasRuleSet }) => hasRuleSet)).toEqual([true, undefined, undefined, true, undefined]);
  });
});
