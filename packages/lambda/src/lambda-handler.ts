import type { AnyHandler, ControlEvents, ControlKind, EventHandler, TableHandlers } from "@cdckit/consumer";
import { type CdcEvent, type Columns, createDecoder, type Decoder, type SchemaSource } from "@cdckit/decode";
import { createRegistry, type RegistryOptions } from "@cdckit/registry";
import { LambdaError } from "./errors.ts";
import {
  type KafkaBatchItemFailure,
  type KafkaBatchResponse,
  type KafkaEvent,
  type KafkaEventRecord,
  kafkaRecordOf,
  partitionsOf,
} from "./kafka-event.ts";
import { type LambdaHandlerOptions, type ResolvedLambdaHandlerOptions, resolveLambdaHandlerOptions } from "./options.ts";
import { pathOf, TableRouter } from "./table-router.ts";

/** The part of Lambda's context that is used. */
export interface LambdaContext {
  /** The milliseconds until Lambda ends the invocation. */
  getRemainingTimeInMillis(): number;
}

/** What to do with the events of a table: one at a time, in the order of their partition. */
export type LambdaTableHandlers<Row = Columns, Key = Columns> = Omit<TableHandlers<Row, Key>, "batch">;

/** A function for Lambda, with the handlers of tables: `export const handler = createLambdaHandler().on(...)`. */
export interface LambdaHandler {
  /** Handles the records of an event. Resolves with the first record of each partition that was not handled. */
  (event: KafkaEvent, context?: LambdaContext): Promise<KafkaBatchResponse>;
  /** Handles events that belong to no table, by kind: `"heartbeat"`, `"transaction"`, ... */
  on<Kind extends ControlKind>(kind: Kind, handler: EventHandler<ControlEvents[Kind]>): this;
  /** Handles every event that no other handler takes. */
  on(pattern: "*", handler: AnyHandler | LambdaTableHandlers): this;
  /**
   * Handles the events of a table. The pattern is its name (`"database.schema.table"`), the end of its name (`"schema.table"` or `"table"`;
   * `"database.table"` if the source has no schemas), or the name of its topic.
   */
  on<Row = Columns, Key = Columns>(pattern: string, handlers: LambdaTableHandlers<Row, Key>): this;
}

/**
 * A handler for Lambda behind an event source mapping for Kafka. Make it once, outside of a function: its schemas and compiled readers live as
 * long as the execution environment.
 */
export function createLambdaHandler(options: LambdaHandlerOptions = {}): LambdaHandler {
  const invocation = new Invocations(resolveLambdaHandlerOptions(options));
  const handler = (event: KafkaEvent, context?: LambdaContext): Promise<KafkaBatchResponse> => invocation.handle(event, context);
  return Object.assign(handler, {
    on(pattern: string, handlers: unknown, ...others: readonly unknown[]) {
      if (others.some((other) => other !== undefined)) {
        // Of JavaScript, and of a consumer's `on`: rows would be taken for validated.
        throw new LambdaError("invalid-handler", `on(${JSON.stringify(pattern)}) takes no validators: check rows in the handler`);
      }
      invocation.router.add(pattern, handlers);
      return handler;
    },
  }) as LambdaHandler; // `on` returns the handler that it is a member of
}

/** Why a partition was left, and at which record. */
interface Left {
  readonly failure: KafkaBatchItemFailure;
  readonly error: unknown;
}

/** Topics may have tables without end: what has been warned of is kept, so that it is told once. */
const maxWarned = 100;

class Invocations {
  readonly router: TableRouter = new TableRouter();
  readonly #warned = new Set<string>();
  readonly #options: ResolvedLambdaHandlerOptions;
  readonly #decoder: Decoder;

  constructor(options: ResolvedLambdaHandlerOptions) {
    this.#options = options;
    this.#decoder = decoderOf(options);
  }

  /** Partitions are handled beside each other, and the records of each in their order. */
  async handle(event: KafkaEvent, context: LambdaContext | undefined): Promise<KafkaBatchResponse> {
    const given = partitionsOf(event);
    if (this.router.isEmpty) {
      throw new LambdaError("invalid-handler", "there is no handler, and Lambda would commit every record unhandled: call on() first");
    }
    const leftMs = (): number => remainingMs(context) - this.#options.reserveMs;
    const partitions = given.map(([name, records]) => this.#handlePartition(name, records, leftMs));
    const left = (await Promise.all(partitions)).filter((one) => one !== null);
    const [first] = left;
    if (first !== undefined && this.#options.throws) {
      const { partition, offset } = first.failure.itemIdentifier;
      throw new LambdaError(
        "batch-failed",
        `${left.length} of ${partitions.length} partitions have a record that was not handled, the first is ${partition}@${offset}; Lambda hands over the whole batch again`,
        { cause: first.error },
      );
    }
    return { batchItemFailures: left.map(({ failure }) => failure) };
  }

  /** Stops at the first record that fails: a later one must not be handled before it. */
  async #handlePartition(name: string, records: readonly KafkaEventRecord[], leftMs: () => number): Promise<Left | null> {
    for (const record of records) {
      const { topic, partition, offset } = record;
      const failure = { itemIdentifier: { partition: name, offset } };
      if (leftMs() < 0) {
        return { failure, error: this.#outOfTime(record, "so that the record was not started") };
      }
      try {
        const events = await inTime(this.#decoder.decode(kafkaRecordOf(record)), leftMs);
        if (events === null) {
          return { failure, error: this.#outOfTime(record, "while the record waited for its schema: does the registry answer") };
        }
        await this.#handleEvents(events);
      } catch (error) {
        const next = this.#options.throws ? "Lambda hands over the whole batch again" : "Lambda is asked to go on with it";
        this.#options.logger.error({ err: error, topic, partition, offset }, `a record failed; ${next}`);
        return { failure, error };
      }
    }
    return null;
  }

  #outOfTime({ topic, partition, offset }: KafkaEventRecord, what: string): Error {
    const { reserveMs, throws, logger } = this.#options;
    const error = new Error(`the invocation had less than reserveMs (${reserveMs} ms) left, ${what}`);
    logger.warn(
      { err: error, topic, partition, offset, reserveMs },
      throws
        ? "the invocation has no time left; Lambda hands over the whole batch again"
        : "the invocation has no time left; Lambda is asked to go on here",
    );
    return error;
  }

  async #handleEvents(events: readonly CdcEvent[]): Promise<void> {
    for (const event of events) {
      const handler = this.router.handlerOf(event);
      if (handler !== undefined) {
        await handler(event);
      } else if (this.#options.strict) {
        throw unhandled(event);
      } else {
        this.#warnOnce(event);
      }
    }
  }

  /** A pattern that fits nothing looks like work that is done: Lambda commits what is left out. */
  #warnOnce(event: CdcEvent): void {
    if (event.kind !== "change" && event.kind !== "truncate" && event.kind !== "row") {
      return; // Debezium writes a tombstone after each delete, and few handlers ask for those or for control events
    }
    const op = event.kind === "change" ? event.op : event.kind;
    const table = event.table === null ? event.record.topic : pathOf(event.table);
    const name = `${op} of ${table}`;
    if (this.#warned.size < maxWarned && !this.#warned.has(name)) {
      this.#warned.add(name);
      const { patterns } = this.router;
      this.#options.logger.warn(
        { table, op, topic: event.record.topic, patterns },
        `no handler takes the ${name}: such events count as handled (warned of once)`,
      );
    }
  }
}

/** Without an end if nobody says it: tests call a handler with `{}`, or without a context. */
function remainingMs(context: Partial<LambdaContext> | null | undefined): number {
  return typeof context?.getRemainingTimeInMillis === "function" ? context.getRemainingTimeInMillis() : Infinity;
}

/**
 * The events, or null if the time is up first. Without this, a registry that does not answer would keep the invocation until Lambda ends it,
 * and the records of all partitions would come again. A handler is never left like that: it may have had an effect.
 */
function inTime(decoding: ReturnType<Decoder["decode"]>, leftMs: () => number): readonly CdcEvent[] | Promise<readonly CdcEvent[] | null> {
  const timeMs = leftMs();
  if (!(decoding instanceof Promise) || timeMs === Infinity) {
    return decoding;
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), Math.min(timeMs, 2 ** 31 - 1)); // a longer delay would end at once
    void decoding.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function unhandled(event: CdcEvent): LambdaError {
  const { topic, partition, offset } = event.record;
  const what = event.kind === "change" ? `${event.op} of ${event.table.name}` : event.kind;
  return new LambdaError(
    "unhandled-event",
    `no handler takes the ${what} at ${topic}[${partition}]@${offset}; add one, or leave strict out`,
  );
}

/** Each message about a wrong option begins with the name of the option. */
function decoderOf({ registry, decoder }: ResolvedLambdaHandlerOptions): Decoder {
  if ("decode" in decoder) {
    return decoder;
  }
  const schemas = registry === undefined ? undefined : named("registry", () => sourceOf(registry));
  return named("decoder", () => createDecoder(schemas === undefined ? decoder : { ...decoder, schemas }));
}

function sourceOf(registry: RegistryOptions | SchemaSource): SchemaSource {
  return "peek" in registry ? registry : createRegistry(registry);
}

function named<Made>(option: string, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw new LambdaError("invalid-option", `${option}.${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
