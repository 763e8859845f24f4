import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import * as client from "@platformatic/kafka";
import { expect, test } from "vitest";
import { Link } from "./link.ts";
import type { ClientConnection, PlatformaticModule } from "./low-level-client.ts";

test.each(["0000000100", "ffffffff00", "ffffff0000000001000000"])(
  "a peer that answers %s ends its own connection, and not the process",
  async (answer) => {
    const server = createServer((accepted) => {
      accepted.on("error", () => {});
      accepted.once("data", () => accepted.write(Buffer.from(answer, "hex")));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const module = client as unknown as Pick<PlatformaticModule, "Connection">; // the part that a link uses
    const link = new Link(module, "me", { connectTimeout: 1_000, requestTimeout: 1_000, maxInflights: 1 }, { host: "127.0.0.1", port });
    const ask = (connection: ClientConnection): Promise<unknown> => client.apiVersionsV3.api.async(connection as never, "me", "1");
    await expect(link.send(ask)).rejects.toThrow(/closed|timed out/i);
    link.close();
    server.close();
  },
);
