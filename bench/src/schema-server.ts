import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RegisteredSchema, SchemaSource } from "@cdckit/decode";

/**
 * A registry of schemas that are registered again and again: each generation has ids of its own, `generation * idsPerGeneration` above those
 * of the source, and the same texts. It can be stopped, and started again at the same address.
 */
export class SchemaServer {
  readonly #schemas: SchemaSource;
  #server: Server | null = null;
  #port = 0;
  #requests = 0;

  constructor(schemas: SchemaSource) {
    this.#schemas = schemas;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get requests(): number {
    return this.#requests;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#requests++;
      const registered = this.#find(request.url ?? "");
      response.writeHead(registered === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(
          registered === undefined
            ? { error_code: 40403, message: "Schema not found" }
            : { schema: registered.schema, schemaType: registered.schemaType },
        ),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  stop(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = null;
  }

  #find(url: string): RegisteredSchema | undefined {
    const id = /^\/schemas\/ids\/(\d+)/.exec(url)?.[1];
    return id === undefined ? undefined : this.#schemas.peek(Number(id) % idsPerGeneration);
  }
}

const idsPerGeneration = 100;

/** The message with the id that its schema has in this generation; it is in Confluent's framing. */
export function inGeneration(message: Uint8Array | null, generation: number): Buffer | null {
  if (message === null) {
    return null;
  }
  const own = Buffer.from(message);
  own.writeUInt32BE((own.readUInt32BE(1) % idsPerGeneration) + generation * idsPerGeneration, 1);
  return own;
}
