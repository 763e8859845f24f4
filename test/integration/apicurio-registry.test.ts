import { createRegistry } from "@cdckit/registry";
import { beforeAll, describe, expect, test } from "vitest";
import { uniqueName, withStack } from "./stack.ts";

const found = await withStack();
const skipReason = found.skip === false ? undefined : found.skip;
const origin = found.skip === false ? new URL(found.part.registryUrl).origin : "http://127.0.0.1:1";

interface Registered {
  readonly globalId: number;
  readonly contentId: number;
}

const address = '{"type":"record","name":"Address","namespace":"n","fields":[{"name":"street","type":"string"}]}';
const order = '{"type":"record","name":"Order","namespace":"n","fields":[{"name":"to","type":"n.Address"}]}';
const proto = 'syntax = "proto3"; message Order { int32 id = 1; }';
const connect = '{"type":"struct","fields":[{"type":"int32","field":"id","optional":false}],"optional":false,"name":"n.Order"}';
const jsonSchema = '{"type":"object","properties":{"id":{"type":"integer"}}}';
const group = uniqueName("a group");

async function register(
  artifactId: string,
  artifactType: string,
  content: string,
  references: readonly object[] = [],
): Promise<Registered> {
  const contentType = artifactType === "PROTOBUF" ? "application/x-protobuf" : "application/json";
  const response = await fetch(`${origin}/apis/registry/v3/groups/${encodeURIComponent(group)}/artifacts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ artifactId, artifactType, firstVersion: { content: { content, contentType, references } } }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { version: Registered }).version;
}

describe.skipIf(skipReason !== undefined)("a real Apicurio", { meta: { ...(skipReason && { skipReason }) } }, () => {
  const registered = new Map<string, Registered>();
  const idsOf = (artifactId: string): Registered => registered.get(artifactId) as Registered;

  beforeAll(async () => {
    registered.set("address", await register("address", "AVRO", address));
    // The same content again: the number spaces drift apart here.
    registered.set("address again", await register("address again", "AVRO", address));
    const reference = { name: "n.Address", groupId: group, artifactId: "address", version: "1" };
    registered.set("order", await register("order", "AVRO", order, [reference]));
    registered.set("proto", await register("proto", "PROTOBUF", proto));
    registered.set("connect", await register("connect", "KCONNECT", connect));
    registered.set("json", await register("json", "JSON", jsonSchema));
  });

  test.each(["/apis/registry/v3", "/apis/registry/v2", "/apis/ccompat/v7"])(
    "tells content ids and global ids apart at %s",
    async (path) => {
      const registry = createRegistry({ url: origin + path });
      const { globalId, contentId } = idsOf("order");
      expect(contentId).not.toBe(globalId);
      const references = [{ name: "n.Address", schema: address }];
      expect(await registry.load(`globalId:${globalId}`)).toEqual({
        id: `globalId:${globalId}`,
        schemaType: "AVRO",
        schema: order,
        references,
      });
      expect(await registry.load(`contentId:${contentId}`)).toMatchObject({ schema: order, references });
      expect((await registry.load(contentId)).schema).toContain("Order");
      await registry.close();
    },
  );

  test.each([
    ["proto", "PROTOBUF", proto],
    ["connect", "KCONNECT", connect],
    ["json", "JSON", jsonSchema],
    ["address again", "AVRO", address],
  ])("knows the type of %s", async (artifactId, schemaType, schema) => {
    const registry = createRegistry({ url: `${origin}/apis/registry/v3` });
    const { globalId, contentId } = idsOf(artifactId);
    expect(await registry.load(`globalId:${globalId}`)).toMatchObject({ schemaType, schema });
    expect(await registry.load(`contentId:${contentId}`)).toMatchObject({ schemaType, schema });
    const artifact = `artifact:${encodeURIComponent(group)}/${encodeURIComponent(artifactId)}/1`;
    expect(await registry.load(artifact)).toMatchObject({ schemaType, schema });
    await registry.close();
  });

  test("does not have what nobody registered", async () => {
    const registry = createRegistry({ url: `${origin}/apis/registry/v3` });
    await expect(registry.load("contentId:999999")).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("NotFoundException"),
    });
    expect(await registry.ping()).toMatchObject([{ ok: true }]);
    await registry.close();
  });
});
