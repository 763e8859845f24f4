import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRegistry } from "@cdckit/registry";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { KafkaDriver } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";

/** Confluent's prefix with schema id 7, and a payload. */
const framed = Buffer.from([0, 0, 0, 0, 7, 2, 4]);

const hourMs = 3_600_000;
const servers: Server[] = [];
const nothing = (): void => {};
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A consumer of one record. What it has to wait for is retried after an hour at the earliest. */
function consumerOf(value: Uint8Array, options: Partial<ConsumerOptions> = {}): Consumer {
  const broker = new MemoryBroker({ t: 1 });
  broker.append("t", { value });
  return createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: ["t"],
    signals: false,
    logger,
    failure: { retry: { initialDelayMs: hourMs, maxDelayMs: hourMs, jitter: "none" } },
    ...options,
  });
}

describe("what waiting does not help is an error at once", () => {
  test("a message that names a schema, without a registry", async () => {
    const consumer = consumerOf(framed).on("*", () => {});
    await expect(consumer.run()).rejects.toThrow(/\[schema-source-missing\].*schema id 7.*registry: \{ url \} to createConsumer/);
  });

  const answering =
    (status: number, body: string): RequestListener =>
    (_, response) =>
      response.writeHead(status).end(body);

  test.each([
    ["404 to everything", answering(404, "<html>")],
    ["another service's JSON", answering(200, "{}")],
    ["401", answering(401, "")],
    ["a redirect", (_: unknown, response: ServerResponse) => response.writeHead(302, { location: "/login" }).end()],
  ])("a registry's address that answers with %s", async (_, listener) => {
    const url = await serve(listener);
    await expect(
      consumerOf(framed, { registry: { url } })
        .on("*", () => {})
        .run(),
    ).rejects.toThrow(`[registry-unusable] expected a schema registry at registry.url: ${url}`);
    const own = createRegistry({ url });
    await expect(
      consumerOf(framed, { registry: own })
        .on("*", () => {})
        .run(),
    ).rejects.toMatchObject({ code: "registry-unusable" });
    await own.close();
  });

  test("nothing halts if a registry does not answer or answers 503, because it may come back", async () => {
    const url = await serve((_, response) => response.writeHead(503).end());
    const asked: Promise<void> = new Promise((resolve) => servers[0]?.on("request", () => resolve()));
    const consumer = consumerOf(Buffer.from('{"id":1}'), { registry: { url } });
    const handled = new Promise<void>((resolve) => consumer.on("*", () => resolve()));
    const running = consumer.run();
    await Promise.all([asked, handled]);
    await consumer.stop();
    await expect(running).resolves.toBeUndefined();
  });

  test("a registry that has not answered when the start fails for another reason is not blamed", async () => {
    const url = await serve(() => {}); // never answers
    const lines: string[] = [];
    const note = (_: object, message: string): void => void lines.push(message);
    const noting = { ...logger, warn: note, error: note };
    const driver = { name: "none", connect: () => Promise.reject(new Error("no brokers")) } as unknown as KafkaDriver; // fails first
    const consumer = consumerOf(framed, { driver, logger: noting, registry: { url } }).on("*", () => {});
    await expect(consumer.run()).rejects.toThrow("no brokers");
    await new Promise((resolve) => void setImmediate(resolve)); // what was asked of the registry has settled
    expect(lines).toEqual([]);
  });

  test("nothing halts if a registry answers 403 to its check, because schemas by id may be allowed", async () => {
    const url = await serve((_, response) => response.writeHead(403).end());
    let warn: (line: string) => void = nothing;
    const warned = new Promise<string>((resolve) => {
      warn = resolve;
    });
    const listening = { ...logger, warn: (_: unknown, line?: string): void => warn(String(line)) };
    const consumer = consumerOf(Buffer.from('{"id":1}'), { registry: { url }, logger: listening }).on("*", nothing);
    const running = consumer.run();
    expect(await Promise.race([warned, running])).toMatch(/^the registry could not be checked: .*\(403\)/);
    await consumer.stop();
    await expect(running).resolves.toBeUndefined();
  });
});

test.each([[undefined, false] as const, ["earliest", true] as const])(
  "a driver hears whether the user gave from (%s): %s",
  async (from, isFromGiven) => {
    const driver = memory({ broker: new MemoryBroker({ t: 1 }) });
    const heard: (boolean | undefined)[] = [];
    const connect: typeof driver.connect = (subscription, sink) => {
      heard.push(subscription.isFromGiven);
      return driver.connect(subscription, sink);
    };
    const options = { driver: { ...driver, connect }, ...(from === undefined ? {} : { from }) };
    const consumer = consumerOf(framed, options).on("*", () => {});
    const running = consumer.run();
    await consumer.stop();
    await running;
    expect(heard).toEqual([isFromGiven]);
  },
);
