import { type ConsumerOptions, silentLogger } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { type DynamicModule, type INestApplicationContext, Inject, Injectable, Module, Scope } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { expect, test } from "vitest";
import { CdcHandler, CdcModule, CdcService, type CdcSlot, closeWithConsumer, isNestCdcError } from "./index.ts";

/** A provider with a handler. Its decorators are called by hand: sources run with type stripping alone, which leaves decorators in. */
function handlersOf(scope: Scope): new () => object {
  class Orders {
    created(): void {}
  }
  CdcHandler("orders", "create")(Orders.prototype, "created", {});
  Injectable({ scope })(Orders);
  return Orders;
}

function moduleOf(driver: ConsumerOptions["driver"] = memory({ topics: { "shop.public.orders": 1 } })): DynamicModule {
  const options: ConsumerOptions = {
    driver,
    groupId: "nest",
    topics: ["shop.public.orders"],
    logger: silentLogger,
    signals: false,
  };
  return CdcModule.forRoot(options);
}

async function startError(provider: new () => object, imports: readonly DynamicModule[] = [moduleOf()]): Promise<unknown> {
  class App {}
  Module({ imports: [...imports], providers: [provider] })(App);
  try {
    const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
    await app.close();
    return null;
  } catch (error) {
    return error;
  }
}

// Of a transient provider, Nest keeps an object whose constructor never ran.
test.each([
  ["a transient provider", Scope.TRANSIENT, "Orders.created belongs to a transient provider, and the app has no instance of its own of it"],
  ["a provider of a request", Scope.REQUEST, "Orders.created belongs to a provider of a request, and an event has no request"],
] as const)("a handler of %s is refused when the app starts", async (_, scope, message) => {
  const error = await startError(handlersOf(scope));
  expect(isNestCdcError(error)).toBe(true);
  expect((error as Error).message).toBe(`[invalid-handler] ${message}; use the default scope`);
});

test("a handler of a provider of the default scope is taken", async () => expect(await startError(handlersOf(Scope.DEFAULT))).toBeNull());

test.each<[string, (app: INestApplicationContext) => Promise<void>]>([
  ["who closes an app with its consumer", (app) => app.get(CdcService).consumer.stop()],
  ["who did not close the app, because its own code has", (app) => app.close()],
])("%s listens to no signal any more after that", async (_, end) => {
  const before = process.listenerCount("SIGTERM");
  class App {}
  Module({ imports: [moduleOf()], providers: [handlersOf(Scope.DEFAULT)] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  closeWithConsumer(app);
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  await end(app);
  await expect.poll(() => process.listenerCount("SIGTERM")).toBe(before);
});

test("a consumer that has halted is told, whatever a handler has thrown", async () => {
  const broker = new MemoryBroker({ "shop.public.orders": 1 });
  broker.append("shop.public.orders", { key: null, value: Buffer.from('{"before":null,"after":{"id":1},"op":"c"}') });
  class Orders {
    created(): never {
      const get = (): never => {
        throw new Error("there is no stack");
      };
      throw Object.defineProperty(new TypeError("no such column"), "stack", { get });
    }
  }
  CdcHandler("orders", "create")(Orders.prototype, "created", {});
  Injectable()(Orders);
  class App {}
  Module({ imports: [moduleOf(memory({ broker }))], providers: [Orders] })(App);
  const lines: unknown[][] = [];
  const ignore = (): void => {};
  const logger = { log: ignore, warn: ignore, error: (...line: unknown[]) => void lines.push(line) };
  const app = await NestFactory.createApplicationContext(App, { logger, abortOnError: false });
  expect(await app.get(CdcService).ended).toMatchObject({ code: "handler-failed" });
  expect(lines.flat()).toEqual([
    expect.stringContaining("The consumer has halted: [handler-failed] a handler failed at shop.public.orders[0]@0"),
    expect.stringContaining("caused by: something that cannot be read"),
    "CdcModule",
  ]);
  await app.close();
});

test("an app that is closed while it starts hears that its consumer was stopped, and of no wrong handler", async () => {
  class Orders {
    readonly #cdc: CdcService;
    constructor(cdc: CdcService) {
      this.#cdc = cdc;
    }
    created(): void {}
    async onApplicationBootstrap(): Promise<void> {
      await this.#cdc.onModuleDestroy(); // as close() of an app with a server calls it: that one does not wait for the start
    }
  }
  CdcHandler("orders", "create")(Orders.prototype, "created", {});
  Inject(CdcService)(Orders, undefined, 0);
  Injectable()(Orders);
  class App {}
  Module({ imports: [moduleOf()], providers: [Orders] })(App);
  await expect(NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })).rejects.toThrow(
    "[wrong-phase] this consumer was stopped before it was started",
  );
});

test("a module that is imported twice is refused: both consumers would call every handler", async () => {
  const error = await startError(handlersOf(Scope.DEFAULT), [moduleOf(), moduleOf()]);
  expect(isNestCdcError(error)).toBe(true);
  expect((error as Error).message).toContain("[invalid-handler] CdcModule is imported twice");
});

test("one module may be imported in several places", async () => {
  const module = moduleOf();
  expect(await startError(handlersOf(Scope.DEFAULT), [module, module])).toBeNull();
});

test.each<[string, object]>([
  ["a generator method", { *taken() {} }.taken],
  ["an asynchronous generator method", { async *taken() {} }.taken],
])("%s is refused when the app starts: a call of one runs nothing of it", async (_, method) => {
  class Orders {}
  Object.defineProperty(Orders.prototype, "taken", { value: method });
  CdcHandler("orders", "create")(Orders.prototype, "taken", {});
  Injectable()(Orders);
  const error = await startError(Orders);
  expect(isNestCdcError(error)).toBe(true);
  expect((error as Error).message).toContain("[invalid-handler] Orders.taken is a generator function");
});

test("what a consumer refuses is said with the class and its methods", async () => {
  class Orders {
    taken() {}
  }
  CdcHandler("orders", "created" as CdcSlot)(Orders.prototype, "taken", {});
  Injectable()(Orders);
  const error = await startError(Orders);
  expect(isNestCdcError(error)).toBe(true);
  expect((error as Error).message).toContain(
    '[invalid-handler] Orders (taken): on("orders"): handler "created" is unknown: the handlers are',
  );
});

test("what is no method of an instance is refused where it is decorated: nothing would be called with its events", () => {
  class Orders {
    static taken() {}
    get handler(): () => void {
      return () => {};
    }
  }
  const decorate = (target: object, key: string, descriptor?: PropertyDescriptor): void =>
    CdcHandler("orders", "create")(target, key, descriptor as TypedPropertyDescriptor<() => void>); // as the compiler calls a decorator
  const { taken } = Object.getOwnPropertyDescriptors(Orders);
  expect(() => decorate(Orders, "taken", taken)).toThrow("[invalid-handler] Orders.taken is static, and events are given to methods");
  expect(() => decorate(Orders.prototype, "taken")).toThrow("[invalid-handler] Orders.taken is a property, and no method");
  const { handler } = Object.getOwnPropertyDescriptors(Orders.prototype);
  expect(() => decorate(Orders.prototype, "handler", handler)).toThrow("[invalid-handler] Orders.handler is an accessor, and no method");
});

test.each(["*", "heartbeat"])("options for whole events of %j are refused, which would have no effect", (pattern) => {
  expect(() => CdcHandler(pattern, undefined, { checks: {} })).toThrow(`[invalid-handler] @CdcHandler("${pattern}") takes whole events`);
  expect(() => CdcHandler(pattern, undefined, { columns: ["id"] })).toThrow("and columns is for those of tables");
  expect(() => CdcHandler(pattern, undefined, {})).not.toThrow();
});

test.each([
  [{}, "found nothing of that kind"],
  [undefined, "found nothing of that kind"],
  [{ useClass: class {}, imports: [] }, "found an object with useClass, imports"],
])("options of forRootAsync without a factory are refused where they are written: %j", (options, found) => {
  expect(() => CdcModule.forRootAsync(options as never)).toThrow(
    `[invalid-option] CdcModule.forRootAsync() expects { useFactory, inject?, imports? }: useFactory is a function that makes the options of createConsumer; ${found}`,
  );
});

test("a pattern that is no text is refused where it is written", () => {
  expect(() => CdcHandler(/orders/ as never)).toThrow("[invalid-handler] @CdcHandler expects a text");
  expect(() => CdcHandler(/orders/ as never)).toThrow("found the regular expression /orders/");
});
