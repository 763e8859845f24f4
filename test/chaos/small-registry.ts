import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A registry of one schema that can be out of order in the ways that registries are. */
export class SmallRegistry {
  readonly #server: Server;
  #state: "up" | "refuses" | "hangs" | "limits" = "up";

  private constructor(schema: string) {
    this.#server = createServer((request, response) => {
      if (this.#state === "hangs") {
        return; // the client's own patience ends it
      }
      if (this.#state !== "up") {
        response.writeHead(this.#state === "limits" ? 429 : 503).end();
        return;
      }
      const isKnown = request.url?.split("?")[0] === "/schemas/ids/1";
      response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(isKnown ? { schema } : { error_code: 40403, message: "Schema not found" }));
    });
  }

  static async listen(schema: string): Promise<SmallRegistry> {
    const registry = new SmallRegistry(schema);
    await new Promise<void>((resolve) => registry.#server.listen(0, "127.0.0.1", resolve));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens
  }

  fail(how: "refuses" | "hangs" | "limits"): void {
    this.#state = how;
  }

  heal(): void {
    this.#state = "up";
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
