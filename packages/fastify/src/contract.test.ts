import { createConsumer, type ConsumerOptions, isConsumerError, silentLogger } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { fastify as fastify5 } from "fastify";
import { fastify as fastify4 } from "fastify-4";
import { describe, expect, test, vi } from "vitest";
import { fastifyCdc, type FastifyCdcOptions } from "./index.ts";

// The part of an app that is used here is the same in both majors, and their types are not.
const majors = { 4: fastify4 as unknown as typeof fastify5, 5: fastify5 };

/** A broker with one record, and a consumer of it. */
function parts(options: Partial<ConsumerOptions> = {}) {
  const broker = new MemoryBroker({ "shop.public.orders": 1 });
  broker.append("shop.public.orders", { key: Buffer.from('{"id":1}'), value: Buffer.from('{"before":null,"after":{"id":1},"op":"c"}') });
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "web",
    topics: ["shop.public.orders"],
    logger: silentLogger,
    signals: ["SIGUSR2"],
    ...options,
  });
  return { broker, consumer };
}

function unreadable(member: "stack" | "message"): Error {
  const get = (): never => {
    throw new Error(`there is no ${member}`);
  };
  return Object.defineProperty(new TypeError(), member, { get });
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe.each(Object.entries(majors))("with Fastify %s, the plugin", (version, fastify) => {
  async function appOf(options: FastifyCdcOptions) {
    const app = fastify();
    await app.register(fastifyCdc, options);
    return app;
  }

  test("is tested with that version", () => expect(fastify().version.split(".")[0]).toBe(version));

  test("starts the consumer when the app is ready, and stops it when the app closes, with what it handled committed", async () => {
    const { broker, consumer } = parts();
    const handled = new Promise((resolve) => void consumer.on("*", resolve));
    const app = await appOf({ consumer });
    expect(consumer.health().phase).toBe("idle");
    await app.ready();
    await handled;
    expect(app.cdc).toBe(consumer);
    await app.close();
    expect(consumer.health().phase).toBe("stopped");
    expect(broker.committed("web", "shop.public.orders", 0)).toBe(1n);
  });

  test("answers probes by the consumer's health, and metrics by the registry's", async () => {
    const { consumer } = parts();
    const handled = new Promise((resolve) => void consumer.on("*", resolve));
    const app = await appOf({ consumer, metrics: { contentType: "text/plain; version=0.0.4", metrics: async () => "up 1\n" } });
    await app.ready();
    await handled;
    await vi.waitUntil(() => consumer.health().ready, 60_000);
    const live = await app.inject("/healthz");
    expect(live.statusCode).toBe(200);
    expect(live.json()).toEqual({ live: true, ready: true, phase: "running", reasons: [] });
    expect((await app.inject("/readyz")).statusCode).toBe(200);
    const metrics = await app.inject("/metrics");
    expect([metrics.headers["content-type"], metrics.body]).toEqual(["text/plain; version=0.0.4", "up 1\n"]);
    await app.close();
  });

  test("answers 503 after the consumer has halted, with the reason, if the app is to stay", async () => {
    const { consumer } = parts({ failure: { retry: false } });
    consumer.on("*", () => {
      throw new TypeError("no such column");
    });
    let end: (error: Error | null) => void = () => {};
    const ended = new Promise<Error | null>((resolve) => void (end = resolve));
    const app = await appOf({ consumer, closeApp: false, onEnd: (error) => end(error) });
    await app.ready();
    expect(isConsumerError(await ended)).toBe(true);
    for (const path of ["/healthz", "/readyz"]) {
      const { statusCode, body } = await app.inject(path);
      expect(statusCode).toBe(503);
      expect(body).toContain("a handler failed at shop.public.orders[0]@0");
    }
    await app.close();
  });

  test("closes the app when the consumer has halted", async () => {
    const { consumer } = parts({ failure: { retry: false } });
    consumer.on("*", () => {
      throw new TypeError("no such column");
    });
    const app = await appOf({ consumer });
    const closed = new Promise<void>((resolve) => void app.addHook("onClose", async () => resolve()));
    await app.ready();
    await closed;
  });

  test.each<[string, () => unknown]>([
    ["an error whose stack cannot be read", () => unreadable("stack")],
    ["an error whose message cannot be read", () => unreadable("message")],
    ["a revoked proxy", () => revokedProxy()],
    ["nothing", () => undefined],
  ])("closes the app, says why, and tells onEnd, if a handler has thrown %s", async (_, thrown) => {
    const { consumer } = parts({ failure: { retry: false } });
    consumer.on("*", () => {
      throw thrown();
    });
    let log = "";
    const app = fastify({ logger: { level: "error", stream: { write: (line: string) => void (log += line) } } });
    let end: (error: Error | null) => void = () => {};
    const ended = new Promise<Error | null>((resolve) => void (end = resolve));
    await app.register(fastifyCdc, { consumer, onEnd: (error) => end(error) });
    const closed = new Promise<void>((resolve) => void app.addHook("onClose", async () => resolve()));
    await app.ready();
    expect(await ended).toMatchObject({ code: "handler-failed" });
    await closed;
    expect(log).toContain("the consumer has halted");
    expect(log).toContain("a handler failed at shop.public.orders[0]@0");
  });

  test("fails the start of the app where that of the consumer is refused at once, and closes the app", async () => {
    const { consumer } = parts(); // without a handler
    const ends: (Error | null)[] = [];
    const app = await appOf({ consumer, onEnd: (error) => void ends.push(error) });
    const closed = new Promise<void>((resolve) => void app.addHook("onClose", async () => resolve()));
    await expect(app.listen({ port: 0 })).rejects.toMatchObject({ code: "invalid-handler" });
    await closed;
    expect(ends).toEqual([expect.objectContaining({ code: "invalid-handler" })]);
    expect(app.server.listening).toBe(false);
  });

  test("starts an app that is to stay also where the start of the consumer is refused", async () => {
    const { consumer } = parts();
    const app = await appOf({ consumer, closeApp: false });
    await app.ready();
    expect((await app.inject("/healthz")).statusCode).toBe(503);
    await app.close();
  });

  /** An app that logs into a list. Its consumer ends when it is told to. */
  async function endingApp(options: Partial<FastifyCdcOptions>) {
    let end: (error: Error) => void = () => {};
    const ran = new Promise<void>((_, reject) => void (end = reject));
    const { consumer } = parts();
    const lines: string[] = [];
    let onLine = (): void => {};
    const write = (line: string): void => {
      const { msg, err } = JSON.parse(line) as { readonly msg: string; readonly err?: { readonly message: string } };
      lines.push(err === undefined ? msg : `${msg}: ${err.message}`);
      onLine();
    };
    const app = fastify({ logger: { stream: { write } } });
    const logged = (line: string): Promise<void> =>
      new Promise((resolve) => {
        onLine = () => lines.includes(line) && resolve();
        onLine();
      });
    await app.register(fastifyCdc, {
      consumer: { run: () => ran, stop: () => consumer.stop(), health: () => consumer.health() },
      ...options,
    });
    const closed = new Promise<void>((resolve) => void app.addHook("onClose", async () => resolve()));
    return { app, closed, logged, end: () => end(new Error("halted")) };
  }

  const pagerIsDown = new Error("the pager is down");

  test.each<[string, NonNullable<FastifyCdcOptions["onEnd"]>]>([
    [
      "throws",
      () => {
        throw pagerIsDown;
      },
    ],
    ["rejects", async () => Promise.reject(pagerIsDown)],
  ])("closes the app where onEnd %s, and logs that", async (_, onEnd) => {
    const { app, closed, logged, end } = await endingApp({ onEnd });
    await app.ready();
    end();
    await Promise.all([closed, logged("onEnd failed: the pager is down")]);
  });

  test("closes the app where onEnd never ends", async () => {
    const { app, closed, end } = await endingApp({ onEnd: () => new Promise(() => {}) });
    await app.ready();
    end();
    await closed;
  });

  test("logs what another plugin fails with when it closes", async () => {
    const { app, closed, logged, end } = await endingApp({});
    app.addHook("onClose", async () => Promise.reject(new Error("the database is gone")));
    await app.ready();
    end();
    await Promise.all([closed, logged("the app failed to close: the database is gone")]);
  });

  test("tells onEnd of an error while the app closes, and of nothing else then", async () => {
    const ends: (Error | null)[] = [];
    for (const error of [new Error("work was abandoned"), null]) {
      const { consumer } = parts();
      let end = (): void => {};
      const ran = new Promise<void>((resolve, reject) => void (end = () => (error === null ? resolve() : reject(error))));
      const stop = async (): Promise<void> => end();
      const app = await appOf({
        consumer: { run: () => ran, stop, health: () => consumer.health() },
        onEnd: (ended) => void ends.push(ended),
      });
      await app.ready();
      await app.close();
    }
    expect(ends).toEqual([expect.objectContaining({ message: "work was abandoned" })]);
  });

  test("closes an app whose consumer ends before it listens, and after that its listen() has an answer", async () => {
    const { app, closed, end } = await endingApp({});
    app.addHook("onReady", async () => {
      end();
      await new Promise((resolve) => setImmediate(resolve)); // the consumer has ended, and the app is not ready
    });
    const ends = new Promise((resolve) => void app.server.once("close", resolve));
    await app.listen({ port: 0, host: "localhost" }); // the name is looked up before the app listens
    await Promise.all([closed, ends]);
  });

  test("ends the server of an app that listens after it was closed, because its consumer had ended", async () => {
    const { app, closed, end } = await endingApp({});
    await app.ready();
    end();
    await closed;
    const ends = new Promise((resolve) => void app.server.once("close", resolve));
    await app.listen({ port: 0, host: "127.0.0.1" });
    await ends;
  });

  test("closes the app when a signal has stopped the consumer", async () => {
    const { consumer } = parts();
    const handled = new Promise((resolve) => void consumer.on("*", resolve));
    const ends: (Error | null)[] = [];
    const app = await appOf({ consumer, onEnd: (error) => void ends.push(error) });
    const closed = new Promise<void>((resolve) => void app.addHook("onClose", async () => resolve()));
    await app.ready();
    await handled;
    process.kill(process.pid, "SIGUSR2");
    await closed;
    expect(ends).toEqual([null]);
  });

  test("lets the handler in flight end before other plugins close what it needs", async () => {
    const { consumer } = parts();
    const order: string[] = [];
    const begun = new Promise<() => void>((resolve) => {
      consumer.on("*", () => new Promise<void>((end) => resolve(end)).then(() => void order.push("handled")));
    });
    const app = fastify();
    app.addHook("onClose", async () => void order.push("database closed"));
    await app.register(fastifyCdc, { consumer });
    await app.ready();
    const end = await begun;
    const closed = app.close();
    end();
    await closed;
    expect(order).toEqual(["handled", "database closed"]);
  });

  test("of an app that closes before it was ready never connects", async () => {
    const { consumer } = parts();
    consumer.on("*", () => {});
    const app = await appOf({ consumer });
    await app.close();
    expect(consumer.health().counts.records).toBe(0);
  });

  test("gives an app two consumers under two names", async () => {
    const [first, second] = [parts().consumer.on("*", () => {}), parts().consumer.on("*", () => {})];
    const app = await appOf({ consumer: first });
    await app.register(fastifyCdc, { consumer: second, name: "audit", livePath: false, readyPath: "/audit/readyz" });
    await app.ready();
    expect(Reflect.get(app, "audit")).toBe(second);
    await app.close();
    expect([first.health().phase, second.health().phase]).toEqual(["stopped", "stopped"]);
  });

  test("refuses wrong options where it is registered", async () => {
    const { consumer } = parts();
    const refused = [
      [{}, "[invalid-option] expected consumer to be a consumer, as createConsumer() makes it, found undefined"],
      [{ consumer, prefix: "/internal" }, "[invalid-option] prefix is no option; the options are consumer, name, livePath,"],
      [{ consumer, livePath: "healthz" }, '[invalid-option] expected livePath to be a path such as "/healthz", found "healthz"'],
      [{ consumer, metrics: {} }, "[invalid-option] expected metrics to be a registry of prom-client, found object"],
      [{ consumer, name: "" }, "[invalid-option] expected name to be a name"],
      [{ consumer, closeApp: "no" }, "[invalid-option] expected closeApp to be true or false, found string"],
      [{ consumer, onEnd: 5 }, "[invalid-option] expected onEnd to be a function, found number"],
    ] as const;
    for (const [options, message] of refused) {
      const app = fastify();
      await expect(app.register(fastifyCdc, options as unknown as FastifyCdcOptions)).rejects.toThrow(message);
    }
  });
});
