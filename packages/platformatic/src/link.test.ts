import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import * as client from "@platformatic/kafka";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { explainFailure } from "./explain-failure.ts";
import { Link } from "./link.ts";
import { type ClientConnection, type ClientLogin, codes, type PlatformaticModule } from "./low-level-client.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

const options = { connectTimeout: 1_000, requestTimeout: 1_000, maxInflights: 1 };
const realModule = client as unknown as Pick<PlatformaticModule, "Connection">; // the part that a link uses
const ask = (connection: ClientConnection): Promise<unknown> => client.apiVersionsV3.api.async(connection as never, "me", "1");

/** What a link fails with if its peer gives these answers to its requests, one after the other. `CORRELATION` stands for the request's id. */
async function failureAt(answers: readonly string[], sasl?: ClientLogin): Promise<unknown> {
  const left = [...answers];
  const server = createServer((accepted) => {
    accepted.on("error", () => {});
    accepted.on("data", (request) =>
      accepted.write(Buffer.from(left.shift()?.replace("CORRELATION", request.toString("hex", 8, 12)) ?? "", "hex")),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const link = new Link({
    module: realModule,
    clientId: "me",
    options: { ...options, ...(sasl && { sasl, connectTimeout: 30_000, requestTimeout: 30_000 }) },
    address: { host: "127.0.0.1", port },
    ended: () => {},
  });
  const failure: unknown = await link.send(ask).catch((error: unknown) => error);
  link.close();
  server.close();
  return failure;
}

test.each(["0000000100", "ffffffff00", "ffffff0000000001000000"])(
  "a peer that answers %s ends its own connection, and not the process",
  async (answer) =>
    expect((await failureAt([answer])) as Error).toMatchObject({ message: expect.stringMatching(/closed|timed out/i) as string }),
);

/** The answer to a SaslHandshake: no error, and one mechanism. */
const handshake = (mechanism: string): string =>
  framed(`CORRELATION00000000000100${mechanism.length.toString(16).padStart(2, "0")}${Buffer.from(mechanism).toString("hex")}`);
/** An answer to a SaslAuthenticate with nothing in it. */
const nothing = framed("CORRELATION00" + "0000" + "00" + "01" + "0000000000000000" + "00");

const scram: ClientLogin = { mechanism: "SCRAM-SHA-256", username: "me", password: "secret" };
const plain: ClientLogin = { mechanism: "PLAIN", username: "me", password: "secret" };

test.each<[string, ClientLogin, readonly string[]]>([
  ["a frame that is too short for a response, in the place of the handshake", plain, ["0000000100"]],
  ["a frame that is too short for a response, after the handshake", plain, [handshake("PLAIN"), "0000000200ff"]],
  ["an empty message of SCRAM", scram, [handshake("SCRAM-SHA-256"), nothing]],
])("a login that is answered with %s ends its connection, and not the process", async (_, sasl, answers) => {
  expect(explainFailure(await failureAt(answers, sasl), "b:1", { groupId: "stock", topics: ["rows"] }).code).toBe("protocol-mismatch");
});

/** A hexadecimal frame with its length. */
function framed(content: string): string {
  const bytes = content.replace("CORRELATION", "00000000").length / 2;
  return bytes.toString(16).padStart(8, "0") + content;
}

/** The client says that a login runs out, which it does long after it has connected. */
async function runOut(connection: ClientConnection | undefined): Promise<void> {
  await Promise.resolve(); // it is connected
  vi.advanceTimersByTime(60_000);
  connection?.reauthenticate();
}

/** A link to a broker that does nothing, and the connections that it has opened. */
function linkWithConnections() {
  const opened: FakeConnection[] = [];
  class FakeConnection implements ClientConnection {
    readonly socket = undefined;
    isClosed = false;
    constructor() {
      opened.push(this);
    }
    reauthenticate = (): void => {};
    async connect(): Promise<void> {}
    async close(): Promise<void> {
      this.isClosed = true;
    }
    on(): void {}
  }
  const link = new Link({
    module: { Connection: FakeConnection },
    clientId: "me",
    options,
    address: { host: "b", port: 1 },
    ended: () => {},
  });
  return { link, opened, areClosed: () => opened.map(({ isClosed }) => isClosed) };
}

test("nothing is sent on a connection whose login runs out, and it is ended after its last answer", async () => {
  const { link, opened, areClosed } = linkWithConnections();
  let answer = (_: string): void => {};
  const first = link.send(() => new Promise<string>((resolve) => (answer = resolve)));
  await runOut(opened[0]);
  expect(await link.send(async (connection) => opened.indexOf(connection as never))).toBe(1);
  expect(areClosed()).toEqual([false, false]);
  answer("late");
  expect(await first).toBe("late");
  expect(areClosed()).toEqual([true, false]);
  await runOut(opened[1]);
  expect(areClosed()).toEqual([true, true]);
});

test("a login of more than 31 days, for which the client's timer fires at once, opens no other connection", async () => {
  const { link, opened } = linkWithConnections();
  await link.send(async () => {});
  opened[0]?.reauthenticate();
  await link.send(async () => {});
  expect(opened.length).toBe(1);
});

test("a link that is dropped ends the connections that wait for their last answers, too", async () => {
  const { link, opened, areClosed } = linkWithConnections();
  void link.send(() => new Promise(() => {}));
  await runOut(opened[0]);
  await link.send(async () => {});
  link.drop();
  expect(areClosed()).toEqual([true, true]);
});

test("a broker that takes a connection for one that is not logged in has not answered: the next request opens another one", async () => {
  const { link, opened, areClosed } = linkWithConnections();
  const refusal = Object.assign(new Error("refused"), {
    errors: [Object.assign(new Error("not now"), { apiCode: codes.illegalSaslState })],
  });
  await expect(link.send(() => Promise.reject(refusal))).rejects.toMatchObject({ code: "brokers-unreachable" });
  await link.send(async () => {});
  expect([opened.length, areClosed()]).toEqual([2, [true, false]]);
});
