import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Reached } from "./waiting.ts";

/** A registry of one schema under many ids, which can be out of order in the ways that registries are. */
export class SmallRegistry {
  readonly #server: Server;
  #state: "up" | "refuses" | "hangs" | "limits" = "up";
  #lastId = 1;
  /** The id that is not answered for. */
  #withheld: number | null = null;
  #misses: Reached[] = [];

  private constructor(schema: string) {
    this.#server = createServer((request, response) => this.#answer(request, response, schema));
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
    this.#withheld = null;
  }

  /** A new id, which is not answered for until the registry is healed; the others are. */
  withhold(): number {
    this.#withheld = ++this.#lastId;
    this.#misses = [];
    return this.#lastId;
  }

  /** Who has asked for the id that is withheld, and when. */
  get misses(): readonly Reached[] {
    return this.#misses;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse, schema: string): void {
    const id = Number(/^\/schemas\/ids\/(\d+)/.exec(request.url ?? "")?.[1] ?? 0);
    const isWithheld = id !== 0 && id === this.#withheld;
    if (isWithheld) {
      this.#misses.push({ pid: Number(request.headers["x-member"]), atMs: Date.now() });
    }
    if (this.#state === "hangs" || isWithheld) {
      return; // the client's own patience ends it
    }
    if (this.#state !== "up") {
      response.writeHead(this.#state === "limits" ? 429 : 503).end();
      return;
    }
    const isKnown = id >= 1 && id <= this.#lastId;
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown ? { schema } : { error_code: 40403, message: "Schema not found" }));
  }
}
