import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunnableConsumer } from "@cdckit/consumer";
import type { FastifyInstance } from "fastify";
import { Listening } from "./listening.ts";
import { type FastifyCdcOptions, resolveFastifyCdcOptions, type ResolvedFastifyCdcOptions } from "./options.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** The consumer of the plugin `fastifyCdc`, unless its option `name` is another one. */
    cdc: RunnableConsumer;
  }
}

/**
 * Gives a Fastify app a consumer. It starts when the app is ready. It stops first of all when the app closes: what is in flight is handled
 * and committed while databases and other plugins are still open.
 */
export async function fastifyCdc(app: FastifyInstance, options: FastifyCdcOptions): Promise<void> {
  const resolved = resolveFastifyCdcOptions(options);
  const { consumer, name } = resolved;
  app.decorate(name, consumer);
  addRoutes(app, resolved);
  let isClosing = false;
  const listening = new Listening(app);
  app.addHook("onReady", async () => {
    const running = consumer.run();
    void running.then(
      () => ended(app, resolved, null, isClosing, listening),
      (error: Error) => ended(app, resolved, error, isClosing, listening),
    );
    if (resolved.closeApp) {
      // Rejects if the start is refused at once: the app closes already, and a listen() that began now would never end.
      await Promise.race([running, nextTurn()]);
    }
  });
  // Not onClose: it comes after the last response, and the stop would wait for clients that keep theirs open.
  app.addHook("preClose", async () => {
    isClosing = true;
    await consumer.stop();
  });
}

/** The consumer belongs to the app that registers the plugin: without this mark, Fastify would show it to the plugin alone. */
Object.assign(fastifyCdc, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "@cdckit/fastify",
  [Symbol.for("plugin-meta")]: { name: "@cdckit/fastify", fastify: ">=4.29.0 <6" },
});

function addRoutes(app: FastifyInstance, { consumer, livePath, readyPath, metrics, metricsPath }: ResolvedFastifyCdcOptions): void {
  for (const [path, member] of [[livePath, "live"] as const, [readyPath, "ready"] as const]) {
    if (path !== false) {
      // A probe comes every few seconds: its requests are no news.
      app.get(path, { logLevel: "warn" }, async (_request, reply) => {
        const { live, ready, phase, reasons } = consumer.health();
        const isWell = member === "live" ? live : ready;
        return reply.code(isWell ? 200 : 503).send({ live, ready, phase, reasons });
      });
    }
  }
  if (metrics !== null) {
    app.get(metricsPath, { logLevel: "warn" }, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  }
}

function ended(
  app: FastifyInstance,
  resolved: ResolvedFastifyCdcOptions,
  error: Error | null,
  isClosing: boolean,
  listening: Listening,
): void {
  if (error !== null) {
    logError(app, error, "the consumer has halted");
  }
  // A stop by the app itself is no news, unless it fails, as one that abandons work.
  if (!isClosing || error !== null) {
    void tellEnd(app, resolved, error); // not waited for: an app whose onEnd hangs closes, too
  }
  if (!isClosing && resolved.closeApp) {
    void close(app, listening);
  }
}

/** Never rejects: nobody waits for it, and an unhandled rejection would end the process. */
async function tellEnd(app: FastifyInstance, { onEnd }: ResolvedFastifyCdcOptions, error: Error | null): Promise<void> {
  try {
    await onEnd(error);
  } catch (failure) {
    logError(app, failure, "onEnd failed");
  }
}

/** Never rejects, for the same reason. What fails here is another plugin's, such as its `onClose`. */
async function close(app: FastifyInstance, listening: Listening): Promise<void> {
  app.log.info("the app closes: its consumer has ended");
  try {
    await listening.settled();
    await app.close();
  } catch (failure) {
    logError(app, failure, "the app failed to close");
  }
}

/**
 * Never throws. pino does if an error or one of its causes cannot be read, and what a handler has thrown may be anything: a line is written with as
 * much of it as can be.
 */
function logError(app: FastifyInstance, error: unknown, what: string): void {
  for (const fieldsOf of [() => ({ err: error }), () => ({ reason: (error as Error).message }), () => ({})]) {
    try {
      app.log.error(fieldsOf(), what);
      return;
    } catch {
      // the next line has less of it
    }
  }
}
