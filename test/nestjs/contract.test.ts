import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { type ConsumerOptions, isConsumerError, silentLogger } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as App from "./app.ts";

const root = join(import.meta.dirname, "../..");
// Nest's packages import each other by their names, so that each major needs a folder of its own.
const majors = { 11: join(root, "majors/nest-11"), 12: import.meta.dirname };

const isBuilt = existsSync(join(root, "packages/nestjs/dist/index.js"));
const skipReason = "the packages are not built: run `npm test`, or `npm run build` first";

const temporary = mkdtempSync(join(import.meta.dirname, ".bundled-"));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** Everything that is Nest's comes from one folder, also for `@cdckit/nestjs`. All else is found from here. */
function nestOf(folder: string): Plugin {
  const find = createRequire(join(folder, "package.json"));
  return {
    name: "nest",
    setup: ({ onResolve }) => {
      onResolve({ filter: /^(@nestjs\/|reflect-metadata$)/ }, ({ path }) => ({
        path: pathToFileURL(find.resolve(path)).href,
        external: true,
      }));
      onResolve({ filter: /^@cdckit\/(consumer|decode|testkit)$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}

describe.skipIf(!isBuilt).each(Object.entries(majors))("with Nest %s, the module", { meta: { skipReason } } as never, (major, folder) => {
  let appOf: typeof App.appOf;
  let isNestCdcError: typeof App.isNestCdcError;

  async function bundled(name: string): Promise<string> {
    const outfile = join(temporary, `${name}-${major}.mjs`);
    await build({
      entryPoints: [join(import.meta.dirname, `${name}.ts`)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      plugins: [nestOf(folder)],
    });
    return outfile;
  }

  beforeAll(async () => {
    ({ appOf, isNestCdcError } = (await import(pathToFileURL(await bundled("app")).href)) as typeof App);
  });

  const changes = [
    { key: '{"id":1}', value: '{"before":null,"after":{"id":1,"state":"new"},"op":"c"' },
    { key: '{"id":1}', value: '{"before":null,"after":{"id":1,"state":"paid"},"op":"u"' },
    { key: '{"id":1}', value: '{"before":{"id":1,"state":"paid"},"after":null,"op":"d"' },
  ];

  function parts(more: Partial<ConsumerOptions> = {}) {
    const broker = new MemoryBroker({ "shop.public.orders": 1, "shop.public.items": 1 });
    for (const table of ["orders", "items"]) {
      const source = `,"source":{"connector":"postgresql","db":"shop","schema":"public","table":"${table}"}}`;
      const records = changes.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value + source) }));
      broker.append(`shop.public.${table}`, ...(table === "orders" ? records : records.slice(0, 1)));
    }
    const options: ConsumerOptions = {
      driver: memory({ broker }),
      groupId: "nest",
      topics: ["shop.public.orders"],
      logger: silentLogger,
      signals: false,
      ...more,
    };
    return { broker, options };
  }

  test("is tested with that version", () => {
    const { version } = JSON.parse(
      readFileSync(createRequire(join(folder, "package.json")).resolve("@nestjs/core/package.json"), "utf8"),
    ) as { version: string };
    expect(version.split(".")[0]).toBe(major);
  });

  test("calls the decorated methods of providers and controllers, each once, on their instances", async () => {
    const { broker, options } = parts({ topics: ["shop.public.orders", "shop.public.items"] });
    const { app, journal, rest } = await appOf("orders", options);
    const complete = new Promise<void>((resolve) => (journal.onLine = () => journal.lines.length === 4 && resolve()));
    await app.init();
    await complete;
    await app.close();
    expect(journal.lines.toSorted()).toEqual([
      "created 1 new",
      "database closed",
      'delete {"id":1} null',
      "item change",
      'update {"id":1} {"id":1}',
    ]);
    expect(rest?.seen).toEqual(["change"]);
    expect(broker.committed("nest", "shop.public.orders", 0)).toBe(3n);
  });

  test("registers the methods of a class for a table together: one that gets nothing is no warning", async () => {
    const warnings: unknown[] = [];
    const { options } = parts({ logger: { ...silentLogger, warn: (fields) => void warnings.push(fields) } });
    const { app, journal } = await appOf("stock", options);
    const first = new Promise<string>((resolve) => (journal.onLine = resolve));
    await app.init();
    expect(await first).toBe("stock create");
    await app.close();
    expect(warnings).toEqual([]);
  });

  test("starts when the app does, and not when it is compiled", async () => {
    const { app, cdc, journal } = await appOf("guarded", parts().options);
    expect(cdc.health().phase).toBe("idle");
    const first = new Promise<string>((resolve) => (journal.onLine = resolve));
    await app.init();
    expect(await first).toBe("guarded change"); // an event has no request: guards are not asked
    await app.close();
    expect(cdc.health().phase).toBe("stopped");
    expect(await cdc.ended).toBeNull();
  });

  test("handles and commits what is in flight before anything closes in onApplicationShutdown", async () => {
    const { broker, options } = parts();
    const { app, journal, orders, cdc } = await appOf("orders", options);
    let open: () => void = () => {};
    (orders as { gate: Promise<void> }).gate = new Promise((resolve) => (open = resolve));
    await app.init();
    await expect.poll(() => cdc.health().counts.records, { timeout: 60_000 }).toBe(1);
    const closed = app.close();
    await expect.poll(() => cdc.health().phase, { timeout: 60_000 }).toBe("draining");
    open();
    await closed;
    expect(journal.lines).toEqual(["created 1 new", "database closed"]);
    expect(broker.committed("nest", "shop.public.orders", 0)).toBe(1n);
  });

  test("starts after other providers have, and handles what is in flight before they close in onModuleDestroy", async () => {
    const { broker, options } = parts();
    const { app, journal, cdc } = await appOf("pools", options);
    let open: () => void = () => {};
    const begun = new Promise<void>((resolve) => (journal.onLine = (line) => line === "begun" && resolve()));
    journal.handling = new Promise((resolve) => (open = resolve));
    await app.init();
    await begun;
    const closed = app.close();
    await expect.poll(() => cdc.health().phase, { timeout: 60_000 }).toBe("draining");
    open();
    await closed;
    expect(journal.lines).toEqual([
      ...Array<string>(3).fill("pool opened, the consumer is idle"),
      "begun",
      "handled with open pools: true, true, true",
      "database closed",
    ]);
    expect(broker.committed("nest", "shop.public.orders", 0)).toBe(1n);
  });

  test("takes its options from a factory with other providers", async () => {
    const { broker, options } = parts();
    const { app, journal } = await appOf("guarded", options, "forRootAsync");
    const complete = new Promise<void>((resolve) => (journal.onLine = () => journal.lines.length === 3 && resolve()));
    await app.init();
    await complete;
    await app.close();
    expect(broker.committed("from-another-module", "shop.public.orders", 0)).toBe(3n);
  });

  test("says what has halted the consumer, and the app goes on, and is not live", async () => {
    const { options } = parts();
    const { app, cdc } = await appOf("none", options);
    app.useLogger(false);
    await app.init();
    const error = await cdc.ended;
    expect(isConsumerError(error)).toBe(true);
    expect(error).toMatchObject({ code: "invalid-handler" });
    expect(cdc.health()).toMatchObject({ live: false, ready: false, reasons: expect.arrayContaining([error?.message]) as unknown });
    await app.close();
  });

  test("logs what has halted the consumer with its cause: an error of a handler is one", async () => {
    const { app, cdc, orders } = await appOf("orders", parts().options);
    const logged: unknown[][] = [];
    app.useLogger({ log: () => {}, warn: () => {}, error: (...line: unknown[]) => void logged.push(line) });
    const failed = Promise.reject(new TypeError("no account", { cause: "of the bank" }));
    failed.catch(() => {}); // the handler waits for it later
    (orders as { gate: Promise<void> }).gate = failed;
    await app.init();
    await cdc.ended;
    app.useLogger(false);
    await app.close();
    const stacks = expect.stringMatching(
      /^ConsumerError: \[handler-failed\][^]*\ncaused by: TypeError: no account\n[^]*\ncaused by: 'of the bank'$/,
    ) as unknown;
    expect(logged).toEqual([[expect.stringContaining("The consumer has halted: [handler-failed]"), stacks, "CdcModule"]]);
  });

  describe("of an app that ends with its consumer", () => {
    let main: string;
    beforeAll(async () => {
      main = await bundled("main");
    });

    test.each([
      ["a signal", ["orders"], "running", 0],
      ["a signal whose stop has abandoned what a handler was at", ["pools", "handler"], "begun", 1],
      ["what has halted the consumer", ["none"], null, 1],
      ["what has halted the consumer, and a signal while it closes", ["none", "signal"], "closing", 1],
      ["a close of the app by itself", ["orders", "close"], null, 0],
      ["a close of the app by itself, and a signal while it closes", ["orders", "close and signal"], "closing", 0],
    ] as const)("closes once after %s, and the code of the process says how it ended", async (_, args, signalAt, code) => {
      const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (line === signalAt) {
          child.kill("SIGTERM");
        }
      }
      expect(await ended).toEqual([code, null]);
      expect(lines.filter((line) => line === "database closed")).toHaveLength(1);
    });
  });

  test("refuses a handler of a provider that belongs to a request", async () => {
    const { app } = await appOf("request", parts().options);
    const error = await app.init().catch((thrown: unknown) => thrown);
    expect(isNestCdcError(error)).toBe(true);
    expect((error as Error).message).toContain("[invalid-handler] OfARequest.created belongs to a provider of a request");
  });

  test("refuses wrong options when the app is made", async () => {
    const { options } = parts();
    await expect(appOf("none", { ...options, groupId: "" })).rejects.toThrow("[invalid-option] groupId");
  });
});
