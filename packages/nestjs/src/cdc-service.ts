import { inspect } from "node:util";
import { type AnyHandler, type Consumer, type Health, isConsumerError, type RowChecks } from "@cdckit/consumer";
import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from "@nestjs/common";
import type { DiscoveryService } from "@nestjs/core";
import { NestCdcError } from "./errors.ts";
import { handlerMarksOf, type HandlerMark } from "./handler-marks.ts";

type Wrapper = ReturnType<DiscoveryService["getProviders"]>[number];

/** The consumer of the app, and its life. Inject it by its class: `constructor(private readonly cdc: CdcService) {}`. */
export class CdcService implements OnApplicationBootstrap, OnModuleDestroy {
  readonly consumer: Consumer;
  /** Resolves when the consumer has ended: with the error that halted it, or with null after a stop or a signal. */
  readonly ended: Promise<Error | null>;
  readonly #discovery: DiscoveryService;
  readonly #logger = new Logger("CdcModule");
  #end: (error: Error | null) => void = () => {};
  #isClosing = false;

  constructor(consumer: Consumer, discovery: DiscoveryService) {
    this.consumer = consumer;
    this.#discovery = discovery;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Whether the app has begun to close, whoever called its `close()`. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** What the consumer says of itself, for a health check of yours. */
  health(): Health {
    return this.consumer.health();
  }

  /** Registers the decorated methods of all providers and controllers, and starts the consumer. Called by Nest, after this hook of all others. */
  onApplicationBootstrap(): void {
    const seen = new Set<object>(); // one instance may be provided under several tokens
    for (const wrapper of [...this.#discovery.getProviders(), ...this.#discovery.getControllers()]) {
      const instance: unknown = wrapper.instance;
      if (typeof instance === "object" && instance !== null && !seen.has(instance)) {
        seen.add(instance);
        this.#register(wrapper, instance);
      }
    }
    void this.consumer.run().then(
      () => this.#over(null),
      (error: Error) => this.#over(error),
    );
  }

  /** Handles and commits what is in flight. Called by Nest, before this hook of all others: what handlers use is open until then. */
  async onModuleDestroy(): Promise<void> {
    this.#isClosing = true;
    await this.consumer.stop();
  }

  #register(wrapper: Wrapper, instance: object): void {
    const marks = handlerMarksOf(instance);
    const [first] = marks;
    const owner = first === undefined ? null : ownerWithoutInstance(wrapper);
    if (first !== undefined && owner !== null) {
      const name = `${instance.constructor.name}.${String(first.method)}`;
      throw new NestCdcError("invalid-handler", `${name} belongs to ${owner}; use the default scope`);
    }
    // The consumer sees a function around the method, and could not tell.
    const generator = marks.find(({ method }) => isGenerator(Reflect.get(instance, method)));
    if (generator !== undefined) {
      const name = `${instance.constructor.name}.${String(generator.method)}`;
      throw new NestCdcError(
        "invalid-handler",
        `${name} is a generator function: calling one runs nothing of it, and its events would be committed unhandled; use a method or an async method`,
      );
    }
    const call =
      ({ method }: HandlerMark): AnyHandler =>
      (event) =>
        (Reflect.get(instance, method) as AnyHandler).call(instance, event);
    try {
      register(this.consumer, marks, call);
    } catch (error) {
      throw isConsumerError(error) && error.code === "invalid-handler" ? refusalOf(instance, marks, error) : error;
    }
  }

  #over(error: Error | null): void {
    if (error !== null) {
      this.#logger.error(`The consumer has halted: ${error.message}`, stacksOf(error));
    } else if (!this.#isClosing) {
      this.#logger.warn("The consumer has stopped, and the app goes on: call closeWithConsumer(app) in main.ts to close it on a signal");
    }
    this.#end(error);
  }
}

/** How many causes of an error are logged: a chain of them may lead back to its beginning. */
const maxCauses = 8;

/**
 * The stacks of an error and of its causes. Nest logs the text that it gets, and what a handler has thrown is a cause. That may be anything, such as
 * an error whose getters throw.
 */
function stacksOf(thrown: unknown, causesLeft: number = maxCauses): string {
  try {
    if (!(thrown instanceof Error)) {
      return inspect(thrown);
    }
    const { stack = String(thrown), cause } = thrown;
    return cause === undefined || causesLeft === 0 ? stack : `${stack}\ncaused by: ${stacksOf(cause, causesLeft - 1)}`;
  } catch {
    return "something that cannot be read";
  }
}

/** A consumer names patterns alone, and an app may have a dozen classes with handlers of one. */
function refusalOf(instance: object, marks: readonly HandlerMark[], { message }: Error): NestCdcError {
  const methods = [...new Set(marks.map(({ method }) => String(method)))].join(", ");
  return new NestCdcError("invalid-handler", `${instance.constructor.name} (${methods}): ${message.replace(/^\[[a-z-]+\] /, "")}`);
}

function isGenerator(handler: unknown): boolean {
  return Object.prototype.toString.call(handler).endsWith("GeneratorFunction]");
}

/** What a provider is that has no instance which events could be given to. Null: it has one. */
function ownerWithoutInstance(wrapper: Wrapper): string | null {
  if (wrapper.isTransient) {
    // Each class that injects it has its own. What the wrapper holds is an object whose constructor never ran.
    return "a transient provider, and the app has no instance of its own of it";
  }
  return wrapper.isDependencyTreeStatic() ? null : "a provider of a request, and an event has no request";
}

/**
 * The methods of a class for one pattern are handlers of one `on`, as they would be without decorators. The consumer warns of an `on` that takes
 * nothing of what is read, and a table without deletes is no reason for that.
 */
function register(consumer: Consumer, marks: readonly HandlerMark[], call: (mark: HandlerMark) => AnyHandler): void {
  const on = consumer.on as (pattern: string, handlers: object, checks?: RowChecks) => unknown; // the consumer checks what it gets
  const open = new Map<string, Record<string, unknown>>();
  for (const mark of marks) {
    const { pattern, slots, options } = mark;
    const { checks, ...selection } = options;
    const key = JSON.stringify([pattern, selection]);
    const handlers = open.get(key);
    if (slots === null) {
      consumer.on(pattern as "*", call(mark));
    } else if (handlers === undefined || checks !== undefined || slots.some((slot) => Object.hasOwn(handlers, slot))) {
      const own: Record<string, unknown> = { ...Object.fromEntries(slots.map((slot) => [slot, call(mark)])), ...selection };
      if (checks === undefined && handlers === undefined) {
        open.set(key, own);
      } else {
        on(pattern, own, checks);
      }
    } else {
      Object.assign(handlers, Object.fromEntries(slots.map((slot) => [slot, call(mark)])));
    }
  }
  for (const [key, handlers] of open) {
    on((JSON.parse(key) as [string])[0], handlers);
  }
}
