import { type Columns, createDecoder, type Decoder, type SchemaSource } from "@cdckit/decode";
import { createRegistry } from "@cdckit/registry";
import type { BatchRunParts } from "./delivery/batch-run.ts";
import { HandlerIntake } from "./delivery/handler-intake.ts";
import { type Delivery, StreamIntake } from "./delivery/stream-intake.ts";
import { ConsumerEngine } from "./engine.ts";
import { ConsumerError } from "./errors.ts";
import { Counters } from "./observe/counters.ts";
import { DeadLetters } from "./failure/dead-letters.ts";
import { Recovery } from "./failure/recovery.ts";
import type { Health } from "./observe/health.ts";
import { type ConsumerOptions, type ResolvedConsumerOptions, resolveConsumerOptions } from "./options.ts";
import type { AnyHandler, ControlEvents, ControlKind, EventHandler, KeyOf, RowOf, TableHandlers } from "./routing/handlers.ts";
import { Router } from "./routing/router.ts";
import type { RowChecks } from "./routing/row-checks.ts";
import { onStopSignals } from "./stop-signals.ts";

/**
 * Decoded change events of a consumer group: handled first, then committed. `Tables` maps the patterns of tables to the types of their
 * rows and keys ({@link TableTypes}), as `cdc-bench types` writes it.
 */
export interface Consumer<Tables extends object = Record<never, never>> {
  /** Handles events that belong to no table, by kind: `"heartbeat"`, `"transaction"`, ... */
  on<Kind extends ControlKind>(kind: Kind, handler: EventHandler<ControlEvents[Kind]>): this;
  /** Handles every event that no other handler takes. */
  on(pattern: "*", handler: AnyHandler): this;
  /**
   * Handles the events of a table: `"schema.table"`, or `"database.table"` where the source has no schemas; three parts are exact; `"*"`
   * takes what no other handler took. `checks`: validators that rows and keys pass before a handler sees them.
   */
  on<Name extends keyof Tables & string>(
    pattern: Name,
    handlers: TableHandlers<RowOf<Tables[Name]>, KeyOf<Tables[Name]>>,
    checks?: RowChecks<RowOf<Tables[Name]>, KeyOf<Tables[Name]>>,
  ): this;
  on<Row = Columns, Key = Columns>(pattern: string, handlers: TableHandlers<Row, Key>, checks?: RowChecks<Row, Key>): this;
  /** Consumes until it is stopped. Resolves after a stop; rejects with the error that halted it. */
  run(): Promise<void>;
  /**
   * Consumes as an iteration, instead of `on` and `run`. What is `done()` is committed, up to the first delivery that is not. Leaving the
   * loop stops the consumer; an error that halts it is thrown into the loop.
   */
  stream(): AsyncGenerator<Delivery, void, void>;
  /** Handles what is in flight, commits, leaves the group. Resolves when it has stopped. Safe at any time, any number of times. */
  stop(): Promise<void>;
  health(): Health;
}

/** How long events are handled before timers, sockets and signals have a turn. */
const maxBlockMs = 50;

/** A consumer with these options. Nothing is connected before `run()` or `stream()`. Throws a `ConsumerError` that names a wrong option. */
export function createConsumer<Tables extends object = Record<never, never>>(options: ConsumerOptions): Consumer<Tables> {
  return new CdcConsumer<Tables>(resolveConsumerOptions(options));
}

/** What decodes, and how to let go of what was made for it. */
interface DecodingParts {
  readonly decoder: Decoder;
  readonly release: () => Promise<void>;
}

function decodingOf({ decoder, registry }: ResolvedConsumerOptions): DecodingParts {
  if ("decodeAt" in decoder) {
    return { decoder, release: nothingToRelease };
  }
  if (registry === undefined || isSchemaSource(registry)) {
    const schemas = registry === undefined ? {} : { schemas: registry };
    return { decoder: createDecoder({ ...decoder, ...schemas }), release: nothingToRelease };
  }
  const own = createRegistry(registry);
  return { decoder: createDecoder({ ...decoder, schemas: own }), release: () => own.close() };
}

function isSchemaSource(registry: object): registry is SchemaSource {
  return "peek" in registry;
}

async function nothingToRelease(): Promise<void> {}

class CdcConsumer<Tables extends object> implements Consumer<Tables> {
  readonly #options: ResolvedConsumerOptions;
  readonly #decoding: DecodingParts;
  readonly #counters: Counters = new Counters();
  readonly #router: Router = new Router();
  readonly #engine: ConsumerEngine;
  readonly #recovery: Recovery;

  constructor(options: ResolvedConsumerOptions) {
    this.#options = options;
    this.#decoding = decodingOf(options);
    this.#engine = new ConsumerEngine(options, this.#counters);
    this.#recovery = recoveryOf(options, this.#counters, this.#engine);
  }

  on(pattern: string, handlers: unknown, checks?: RowChecks): this {
    if (this.#engine.phase !== "idle") {
      throw new ConsumerError("wrong-phase", "on() must be called before run(): events that came earlier would have been filtered");
    }
    this.#router.add(pattern, handlers, checks);
    return this;
  }

  async run(): Promise<void> {
    if (this.#router.isEmpty) {
      throw new ConsumerError(
        "invalid-handler",
        "run() without a handler would commit everything unread; call on() first, or use stream()",
      );
    }
    const engine = this.#engine;
    engine.refuseUnlessIdle();
    const intake = new HandlerIntake(
      this.#batchRunParts(),
      (error) => engine.fail(error),
      () => engine.progress(),
    );
    const unlisten = onStopSignals(
      this.#options.signals,
      () => void engine.stop(),
      () => engine.force("a second stop signal came"),
    );
    try {
      await engine.run(intake);
    } finally {
      unlisten();
      await this.#decoding.release();
    }
  }

  async *stream(): AsyncGenerator<Delivery, void, void> {
    if (!this.#router.isEmpty) {
      throw new ConsumerError("invalid-handler", "stream() gives every event to the loop; remove the handlers of on(), or use run()");
    }
    const engine = this.#engine;
    engine.refuseUnlessIdle();
    const intake = new StreamIntake({
      decoder: this.#decoding.decoder,
      counters: this.#counters,
      recovery: this.#recovery,
      clock: this.#options.clock,
      maxInFlightBytes: this.#options.delivery.maxInFlightBytes,
      progress: () => engine.progress(),
    });
    const stopped = engine.run(intake);
    // Awaited below. A start that failed has nobody who would end the intake.
    stopped.catch(() => intake.abandonUnlessDrained());
    try {
      yield* deliveriesOf(intake, engine);
    } finally {
      intake.abandonUnlessDrained();
      void engine.stop();
      try {
        await stopped;
      } finally {
        await this.#decoding.release();
      }
    }
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  health(): Health {
    return this.#engine.health();
  }

  #batchRunParts(): BatchRunParts {
    return {
      decoder: this.#decoding.decoder,
      router: this.#router,
      counters: this.#counters,
      recovery: this.#recovery,
      clock: this.#options.clock,
      maxBlockMs,
    };
  }
}

function recoveryOf(
  { failure, groupId, clock, random, logger }: ResolvedConsumerOptions,
  counters: Counters,
  engine: ConsumerEngine,
): Recovery {
  const parts = { options: failure, clock, random, counters, logger };
  const { deadLetterTopic: topic } = failure;
  if (topic === null) {
    return new Recovery({ ...parts, deadLetters: null });
  }
  const deadLetters = new DeadLetters({ ...parts, topic, groupId, send: (records) => engine.send(records) });
  engine.onRelease((assignments) => deadLetters.parkedKeys.release(assignments));
  return new Recovery({ ...parts, deadLetters });
}

async function* deliveriesOf(intake: StreamIntake, engine: ConsumerEngine): AsyncGenerator<Delivery, void, void> {
  try {
    for (let delivery = await intake.next(); delivery !== null; delivery = await intake.next()) {
      yield delivery;
    }
  } catch (error) {
    engine.fail(error as Error); // next() rejects with errors only
  }
}
