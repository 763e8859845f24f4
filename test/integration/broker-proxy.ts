import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between a client and a broker. What the client sends goes through as it is. */
export abstract class BrokerProxy {
  readonly #server: Server;

  constructor(brokerPort: number) {
    this.#server = createServer((client) => {
      const broker = connect({ host: "127.0.0.1", port: brokerPort });
      client.pipe(broker);
      broker.on("data", this.answering(client));
      broker.on("close", () => client.destroy());
      client.on("close", () => broker.destroy());
      client.on("error", () => {});
      broker.on("error", () => {});
    });
  }

  /** Asked for each connection: gets what the broker sends on it, and writes what the client is to get. */
  protected abstract answering(client: Socket): (chunk: Buffer) => void;

  /** `port`: where it was before it was closed, or any that is free. */
  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}
