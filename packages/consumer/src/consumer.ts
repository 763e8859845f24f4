import type { CdcEvent, Columns, ColumnSelector } from "@cdckit/decode";
import { settledWithin } from "./deadline.ts";
import { type DecodingParts, decodingOf } from "./decoding.ts";
import type { Sink } from "./sink.ts";
import { AttachedSinks, type SinkOptions } from "./routing/attached-sinks.ts";
import { Fence } from "./delivery/fence.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import { refuseForStream } from "./delivery/delivery-options.ts";
import { ConcurrentDispatcher } from "./delivery/concurrent-dispatcher.ts";
import { type PipeFunction, pipeSink } from "./delivery/pipe-sink.ts";
import { SinkClaims } from "./delivery/sink-claims.ts";
import type { RunnerParts } from "./delivery/runner-parts.ts";
import { seekPositionOf } from "./delivery/seek-to.ts";
import { SerialDispatcher } from "./delivery/serial-dispatcher.ts";
import { type Delivery, StreamDispatcher } from "./delivery/stream-dispatcher.ts";
import { ConsumerEngine } from "./engine.ts";
import { Latch } from "./latch.ts";
import { leavableDeliveries } from "./leavable-deliveries.ts";
import { ConsumerError } from "./errors.ts";
import { Counters } from "./observe/counters.ts";
import { DeadLetters } from "./failure/dead-letters.ts";
import { Recovery } from "./failure/recovery.ts";
import { HandlerObserver } from "./observe/handler-observer.ts";
import type { Health } from "./observe/health.ts";
import { OpenTelemetryObserver } from "./observe/opentelemetry.ts";
import { Waits } from "./observe/waits.ts";
import { type ConsumerOptions, type ResolvedConsumerOptions, resolveConsumerOptions } from "./options.ts";
import type { KeyOf, RowOf, TableEvent, StreamEvent, UntypedPattern } from "./routing/handlers.ts";
import { MatchReport } from "./routing/match-report.ts";
import { MatchWatch } from "./routing/match-watch.ts";
import { UnknownWatch } from "./routing/unknown-watch.ts";
import { Router } from "./routing/router.ts";
import { checkPatternText } from "./routing/table-pattern.ts";
import type { On } from "./routing/on.ts";
import type { RowChecks } from "./routing/row-checks.ts";
import { checkRegistry } from "./registry-check.ts";
import type { OffsetOption } from "./start-position.ts";
import { isSubscribed } from "./subscribed-topics.ts";
import { skippingDecoder } from "./skipped-records.ts";
import { onAbort, type RunOptions, signalOf } from "./run-options.ts";
import { onStopSignals } from "./stop-signals.ts";
import { callUser } from "./user-code/user-functions.ts";
import { readMember } from "./user-code/user-value.ts";
import { forceStop } from "./workers/runnable-consumer.ts";
import { createWorkersConsumer, type WorkersConsumer } from "./workers/workers-consumer.ts";
import type { WorkersOptions } from "./workers/workers-options.ts";
import { bindMethods } from "./bind-methods.ts";

/**
 * Decoded change events of a consumer group. Events are handled first, and committed after that. `Tables` maps the patterns of tables to
 * the types of their rows and keys ({@link TableTypes}), as `cdc-bench types` writes it.
 */
export interface Consumer<Tables extends object = Record<never, never>> {
  /**
   * Registers handlers: of a table, of a kind of events that belong to no table (`"heartbeat"`, `"transaction"`, ...), or of every event that
   * no other handler takes (`"*"`). Returns the consumer. Throws a `ConsumerError`: `invalid-handler` for what is no handler, `wrong-phase`
   * after `run()`.
   */
  readonly on: On<Tables, this>;
  /**
   * Writes the changes of tables into a sink that keeps rows and offsets together, so that each change counts once. Each sink goes at its
   * own pace and from its own checkpoint. A record is committed when all sinks and all handlers are done with it.
   */
  to(sink: Sink, options?: SinkOptions): this;
  /**
   * Writes what a function makes of a table's events to Kafka, in one transaction with the offsets. Each event counts once for readers with
   * `read_committed`. A consumer with `pipe` has no other `pipe`, `on` or `to`. The driver must have transactions. Throws a `ConsumerError`:
   * `invalid-handler` without a function or for a second `pipe`, `wrong-phase` after `run()`. With a driver that has no transactions, `run()` rejects with
   * `unsupported-by-driver`.
   */
  pipe<Name extends keyof Tables & string>(
    pattern: Name,
    makeRecords: PipeFunction<TableEvent<RowOf<Tables[Name]>, KeyOf<Tables[Name]>>>,
    options?: Pick<SinkOptions, "batch">,
  ): this;
  pipe<Row = Columns, Key = Columns>(
    pattern: UntypedPattern<Tables>,
    makeRecords: PipeFunction<TableEvent<Row, Key>>,
    options?: Pick<SinkOptions, "batch">,
  ): this;
  /**
   * Consumes until it is stopped: by `stop()`, by a signal of the process, or by `options.signal`. Resolves after a stop. Rejects with the
   * error that halted it. Of a record, and with its place: a `DecodeError`, or a `ConsumerError` with `handler-failed`, `invalid-row`,
   * `unhandled-event`, `table-unknown`, `sink-failed`, `decoder-failed` or `dead-letter-failed`. Of the whole: `failures-systemic`, `log-truncated`,
   * `registry-unusable`, `callback-failed`, `driver-failed`, `unsupported-by-driver`, or an error of the driver, as `brokers-unreachable`,
   * `not-authorized` and `fenced`. `work-abandoned` if a stop came to its deadline. With nothing connected: `invalid-handler` if nothing takes
   * events, and `wrong-phase` if it has run before.
   */
  run(options?: RunOptions): Promise<void>;
  /**
   * Consumes as an iteration, instead of `on` and `run`. Deliveries are committed when they are `done()`, up to the first one that is not.
   * At most `delivery.maxOutOfOrder` records of a partition are handed out from that one on. The first `next()` rejects with `invalid-option` for
   * options that have no effect on a stream: `delivery.concurrency`, `batch` and `maxInFlight`.
   * If the loop is left, the consumer stops. If an error halts the consumer, it is thrown into the loop. `Readable.from` and
   * `ReadableStream.from` make a stream of it: destroying or cancelling the stream leaves the loop, also while no event comes.
   */
  stream(options?: RunOptions): AsyncGenerator<Delivery<StreamEvent<Tables>>, void, void>;
  /**
   * Moves a partition of this member while the consumer runs. What is in flight is handled and committed, and what only rests between
   * two attempts is left. Then the partition goes on at the offset, which is committed at once. Resolves when the partition has moved and the commit was tried. If that commit fails, it is tried
   * again, and `health()` shows it. Do not await it inside a handler: it waits for the handler, for `shutdownTimeoutMs` at most.
   * Rejects with `seek-refused` if another member has the partition, if the log lacks the offset, or if a sink keeps a checkpoint of its own;
   * with `wrong-phase` if the consumer does not run; with `unsupported-by-driver` if the driver cannot; with `invalid-option` for a position
   * that cannot be. Nothing has moved then.
   */
  seek(position: { readonly topic: string; readonly partition: number; readonly offset: OffsetOption }): Promise<void>;
  /**
   * Handles what is in flight, commits, leaves the group and closes the sinks. Resolves when all of that is done and `run()` has settled, so
   * that the process may end. It is safe at any time, any number of times, also before `run()`: sinks are closed then, too. Inside a handler, call it without awaiting it: the stop waits for the handler. If that lasts a second, a warning
   * and `health()` name its record. It never rejects: if `shutdownTimeoutMs` is over before the work in flight is handled, `run()` rejects
   * with `work-abandoned`.
   */
  stop(): Promise<void>;
  /** `stop()`, for `await using consumer = createConsumer(...)`. */
  [Symbol.asyncDispose](): Promise<void>;
  /** How the consumer is, at once and without asking anybody. Works in every phase, and never throws. */
  health(): Health;
}

/**
 * A consumer with these options. Nothing is connected before `run()` or `stream()`. Throws a `ConsumerError` that names a wrong option. With
 * `workers`, it runs on so many threads, and its handlers are registered in the module that each of them loads.
 */
export function createConsumer(options: WorkersOptions): WorkersConsumer;
export function createConsumer<Tables extends object = Record<never, never>>(options: ConsumerOptions): Consumer<Tables>;
export function createConsumer<Tables extends object = Record<never, never>>(
  options: ConsumerOptions | WorkersOptions,
): Consumer<Tables> | WorkersConsumer {
  return hasWorkers(options)
    ? createWorkersConsumer(options)
    : (new CdcConsumer<Tables>(resolveConsumerOptions(options)) as unknown as Consumer<Tables>); // `on` takes what any of its signatures takes
}

function hasWorkers(options: ConsumerOptions | WorkersOptions): options is WorkersOptions {
  return readMember(options, "workers") !== undefined;
}

class CdcConsumer<Tables extends object> implements Omit<Consumer<Tables>, "on"> {
  readonly #options: ResolvedConsumerOptions;
  readonly #decoding: DecodingParts;
  readonly #counters: Counters = new Counters();
  readonly #waits: Waits;
  readonly #router: Router;
  readonly #sinks: AttachedSinks;
  readonly #matches: MatchReport;
  #hasPipe = false;
  readonly #engine: ConsumerEngine;
  readonly #recovery: Recovery;
  readonly #observer: HandlerObserver;
  /** Resolves after the end, whatever has led to it, when sinks are closed and the decoder's connections with them. Never rejects. */
  readonly #released: Promise<void>;
  /** Opened when `run()` settles. Null if there was none, or if it was refused. */
  #run: Latch | null = null;

  constructor(options: ResolvedConsumerOptions) {
    this.#options = options;
    this.#waits = new Waits(options);
    const watch = new MatchWatch();
    const isTopic = (text: string): boolean => isSubscribed(options.topics, text);
    this.#sinks = new AttachedSinks({ logger: options.logger, fail: (error) => this.#engine.fail(error), watch, isTopic });
    const decoding = decodingOf(options, this.#waits, {
      onSchema: (seen) => this.#sinks.schemaSeen(seen),
      selectColumns: (topic) => this.#selectorFor(topic),
    });
    this.#decoding = {
      ...decoding,
      decoder: skippingDecoder(decoding.decoder, options.failure.skip, { ...options, counters: this.#counters }),
    };
    const observer = observerOf(options);
    this.#observer = observer;
    this.#router = new Router({ around: (target) => observer.around(target), isTopic, watch });
    const engine = new ConsumerEngine(options, this.#counters, this.#waits);
    this.#engine = engine;
    this.#matches = new MatchReport({ ...options, watch, topics: () => [...engine.events.topics], records: () => this.#counters.records });
    const unknown = new UnknownWatch(options.logger, this.#counters);
    engine.addNotes(() => [...this.#matches.reasons, ...unknown.reasons, ...decoding.reasons()]);
    this.#recovery = recoveryOf(options, this.#counters, this.#waits, this.#engine, (name) => this.#sinks.hostOf(name));
    this.#released = engine.stopped.then(() => this.#release());
    bindMethods(this);
  }

  /** Null if every handler reads whole rows. A topic's first record comes when all handlers are known. */
  #selectorFor(topic: string): ColumnSelector | null {
    return this.#router.selectsColumns
      ? (table, slot) => (this.#sinks.takeTable(table, topic) ? null : this.#router.columnsOf(table, slot, topic))
      : null;
  }

  on(pattern: string, handlers: unknown, checks?: RowChecks): this {
    this.#engine.refuseUnlessIdle("on() must be called before run(): earlier events would have been filtered");
    this.#router.add(pattern, handlers, checks);
    return this;
  }

  to(sink: Sink, options: SinkOptions = {}): this {
    this.#engine.refuseUnlessIdle("to() must be called before run(): the sink would have missed earlier events");
    this.#sinks.add(sink, options);
    return this;
  }

  pipe(pattern: string, makeRecords: unknown, options: Pick<SinkOptions, "batch"> = {}): this {
    checkPatternText("pipe()", pattern);
    if (typeof makeRecords !== "function") {
      throw new ConsumerError("invalid-handler", `pipe(${JSON.stringify(pattern)}) expects a function from events to records`);
    }
    this.#engine.refuseUnlessIdle("pipe() must be called before run(): it would have missed earlier events");
    if (this.#hasPipe) {
      throw new ConsumerError(
        "invalid-handler",
        `pipe(${JSON.stringify(pattern)}) is the second pipe() of this consumer, and each commits in its own transaction; give it a consumer and a group of its own`,
      );
    }
    const engine = this.#engine;
    const sink = pipeSink(makeRecords as PipeFunction<CdcEvent>, (records, offsets) => engine.transact(records, offsets)); // it gets table events
    engine.requireTransactions();
    this.#sinks.add(sink, { ...options, tables: [pattern] }, "pipe()");
    this.#hasPipe = true;
    return this;
  }

  async run(options?: RunOptions): Promise<void> {
    const engine = this.#engine;
    const signal = engine.admit(() => this.#signalOfRun(options));
    const { signals, clock } = this.#options;
    const unlisten = onStopSignals(signals, clock, {
      first: () => void engine.stop("signal"),
      again: () => engine.force("a second stop signal came"),
    });
    const forgetSignal = onAbort(signal, (reason) => engine.aborted(reason));
    this.#matches.start();
    const run = new Latch();
    this.#run = run;
    try {
      await (signal?.aborted === true ? engine.stop() : this.#observer.detached(() => this.#start(this.#dispatcher())));
    } finally {
      this.#matches.stop();
      forgetSignal();
      unlisten();
      await this.#released;
      run.open();
    }
  }

  /** The signal that stops a run. Throws if what was registered cannot run. */
  #signalOfRun(options: RunOptions | undefined): AbortSignal | undefined {
    const signal = signalOf("run()", options);
    if (this.#router.isEmpty && this.#sinks.all.length === 0) {
      throw new ConsumerError(
        "invalid-handler",
        "run() without a handler would commit every record unhandled; call on() or to() first, or use stream()",
      );
    }
    if (this.#hasPipe && (this.#sinks.all.length > 1 || !this.#router.isEmpty)) {
      throw new ConsumerError(
        "invalid-handler",
        "pipe() commits in its own transaction, and would commit past records that other handlers and sinks have not handled; give it a consumer and a group of its own",
      );
    }
    return signal;
  }

  /** Starts to consume. Asks at the same time whether the address of the registry is one. */
  #start(dispatcher: Dispatcher): Promise<void> {
    const stopped = this.#engine.run(dispatcher);
    const { source } = this.#decoding;
    if (source !== null) {
      void checkRegistry(source, this.#options.logger, () => this.#engine.closing.aborted).then(
        (error) => error !== null && this.#engine.fail(error),
      );
    }
    return stopped;
  }

  /** Sinks are written by others. A sink that does not close must not keep `run()` from ending, nor change the error that it ends with. */
  async #release(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#observer.abandon(new ConsumerError("work-abandoned", "the consumer stopped before this handler ended"));
    const closeMs = this.#engine.closeLeftMs;
    const closed = this.#sinks.close().catch((error: unknown) => logger.warn({ err: error }, "a sink failed while it closed"));
    if (!(await settledWithin(closed, closeMs, clock))) {
      logger.warn({ closeMs }, "a sink did not close in time");
    }
    await this.#decoding.release().catch((error: unknown) => logger.warn({ err: error }, "the registry failed while it closed"));
  }

  stream(options?: RunOptions): AsyncGenerator<Delivery<StreamEvent<Tables>>, void, void> {
    const engine = this.#engine;
    const deliveries = leavableDeliveries({
      engine,
      check: () => engine.admit(() => this.#signalOfStream(options)),
      makeDispatcher: () => this.#streamDispatcher(),
      start: (dispatcher) => this.#start(dispatcher),
      released: this.#released,
    });
    return deliveries as AsyncGenerator<Delivery<StreamEvent<Tables>>, void, void>; // the map is the user's word
  }

  /** The signal that stops a stream. Throws if something else takes events. */
  #signalOfStream(options: RunOptions | undefined): AbortSignal | undefined {
    const signal = signalOf("stream()", options);
    refuseForStream(this.#options.delivery);
    if (!this.#router.isEmpty || this.#sinks.all.length > 0) {
      throw new ConsumerError("invalid-handler", "stream() gives every event to the loop; remove on() and to(), or use run()");
    }
    return signal;
  }

  async seek(position: { readonly topic: string; readonly partition: number; readonly offset: OffsetOption }): Promise<void> {
    const to = seekPositionOf(position);
    const sink = this.#hasPipe ? undefined : this.#sinks.all[0]?.sink;
    if (sink !== undefined) {
      throw new ConsumerError(
        "seek-refused",
        `the sink ${JSON.stringify(sink.name)} goes on from its own checkpoint, even if the partition is moved: it would skip what it has applied, and miss the records in between; stop, set its checkpoint, and start again`,
      );
    }
    await this.#observer.detached(() => this.#engine.seek(to)); // what a driver fetches from there on is no part of the caller's request
  }

  async stop(): Promise<void> {
    await this.#engine.stop();
    await this.#released;
    await this.#run?.opened; // who waits for run() hears of its end first
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  [forceStop](why: string): void {
    this.#engine.force(why);
  }

  health(): Health {
    return this.#engine.health();
  }

  /**
   * One record of a partition after the other is enough without concurrency, batches and sinks. It adds the least to the cost of an event.
   */
  #dispatcher(): Dispatcher {
    const engine = this.#engine;
    const pauseAll = (isPaused: boolean): void => engine.pauseAll(isPaused);
    const { delivery } = this.#options;
    const sinks = this.#sinks.all;
    const maxInFlight = delivery.maxInFlight ?? (sinks.length > 0 || delivery.batch !== null ? 64 : Math.min(delivery.concurrency, 2));
    if (delivery.concurrency === 1 && maxInFlight === 1 && delivery.batch === null && sinks.length === 0) {
      const { maxInFlightBytes } = delivery;
      return new SerialDispatcher({ ...this.#runnerParts(), maxInFlightBytes, pauseAll });
    }
    const claims = sinks.length > 0 ? this.#claims() : null;
    return new ConcurrentDispatcher({
      ...this.#runnerParts(),
      delivery: { ...delivery, maxInFlight },
      hasHandlers: !this.#router.isEmpty,
      awaitsRevoked: this.#options.driver.capabilities.awaitsRevoked,
      sinks: sinks.map((attached) => ({ ...attached, limits: attached.limits ?? delivery.batch })),
      checkpointOf: (sink, assignment) => claims?.checkpointOf(sink, assignment) ?? null,
      pauseAll,
    });
  }

  #streamDispatcher(): StreamDispatcher {
    const engine = this.#engine;
    return new StreamDispatcher({
      decoder: this.#decoding.decoder,
      counters: this.#counters,
      recovery: this.#recovery,
      clock: this.#options.clock,
      lease: engine.lease,
      maxInFlightBytes: this.#options.delivery.maxInFlightBytes,
      maxOutOfOrder: this.#options.delivery.maxOutOfOrder,
      turns: engine.turns,
      pauseAll: (isPaused) => engine.pauseAll(isPaused),
      progress: () => engine.progress(),
    });
  }

  #claims(): SinkClaims {
    const { groupId, from, failure, clock, random, logger } = this.#options;
    const engine = this.#engine;
    const fence = new Fence(clock, engine.lease);
    engine.closing.addEventListener("abort", () => fence.close(), { once: true });
    const claims = new SinkClaims({
      sinks: this.#sinks.all.map(({ sink }) => sink),
      groupId,
      from,
      hasHandlers: !this.#router.isEmpty,
      retry: failure.retry,
      fence,
      holds: (assignment) => engine.holds(assignment),
      random,
      logger,
      waits: this.#waits,
      fail: (error) => engine.fail(error),
    });
    engine.startAt(claims);
    return claims;
  }

  #runnerParts(): RunnerParts {
    return {
      decoder: this.#decoding.decoder,
      router: this.#router,
      counters: this.#counters,
      recovery: this.#recovery,
      clock: this.#options.clock,
      strict: this.#options.strict,
      lease: this.#engine.lease,
      turns: this.#engine.turns,
      fail: (error) => this.#engine.fail(error),
      progress: () => this.#engine.progress(),
    };
  }
}

function observerOf({ telemetry, groupId, clock, userFunctions }: ResolvedConsumerOptions): HandlerObserver {
  const { opentelemetry } = telemetry;
  const lookOn = <T>(call: () => T): T | undefined => userFunctions.lookOn("telemetry", call);
  const spans =
    opentelemetry === undefined
      ? null
      : callUser("telemetry.opentelemetry", () => new OpenTelemetryObserver(opentelemetry, groupId, () => clock.wallMs(), lookOn));
  return new HandlerObserver(groupId, clock, spans, userFunctions);
}

function recoveryOf(
  { failure, groupId, clock, random, logger }: ResolvedConsumerOptions,
  counters: Counters,
  waits: Waits,
  engine: ConsumerEngine,
  hostOf: (sink: string) => string | undefined,
): Recovery {
  const parts = { groupId, options: failure, clock, random, counters, logger, waits, hostOf };
  const { deadLetterTopic: topic } = failure;
  if (topic === null) {
    return new Recovery({ ...parts, deadLetters: null });
  }
  const deadLetters = new DeadLetters({ ...parts, topic, send: (records) => engine.send(records) });
  engine.events.onRelease((assignments) => deadLetters.release(assignments));
  return new Recovery({ ...parts, deadLetters });
}
