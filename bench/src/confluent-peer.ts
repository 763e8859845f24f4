import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SchemaSource } from "@cdckit/decode";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { bigintLongs } from "./avsc-peer.ts";

/** The client that kafkajs' users have, with every schema in its cache and the long type without which it throws on Debezium's messages. */
export async function confluentPeer(schemas: SchemaSource, ids: readonly number[]): Promise<(message: Buffer) => Promise<unknown>> {
  const server = await serve(schemas);
  try {
    const { port } = server.address() as AddressInfo;
    const registry = new SchemaRegistry({ host: `http://127.0.0.1:${port}` }, { [SchemaType.AVRO]: { typeHook: bigintLongs } });
    await Promise.all(ids.map((id) => registry.getSchema(id)));
    return (message) => registry.decode(message);
  } finally {
    server.close();
  }
}

/** A registry for as long as the cache is being filled. */
function serve(schemas: SchemaSource): Promise<Server> {
  const server = createServer((request, response) => {
    const registered = schemas.peek(Number(request.url?.split("/").at(-1)));
    response.writeHead(registered === undefined ? 404 : 200, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(registered === undefined ? {} : { schema: registered.schema, schemaType: registered.schemaType }));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
