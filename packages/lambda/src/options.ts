import type { Logger } from "@cdckit/consumer";
import type { Decoder, DecoderOptions, SchemaSource } from "@cdckit/decode";
import type { RegistryOptions } from "@cdckit/registry";
import { LambdaError } from "./errors.ts";
import { guardedLogger } from "./guarded-logger.ts";
import { silentLogger, stderrLogger } from "./stderr-logger.ts";

/** The options of `createLambdaHandler`. All of them may be left out. */
export interface LambdaHandlerOptions {
  /** Where schemas come from: the options of `createRegistry`, or a source of your own. Not needed for JSON. */
  readonly registry?: RegistryOptions | SchemaSource | undefined;
  /** The options of `createDecoder` except `schemas`, which come from `registry`. Or a decoder of your own: `registry` is refused beside it. */
  readonly decoder?: Omit<DecoderOptions, "schemas"> | Decoder;
  /**
   * If this is set, an event that no handler takes is a failure of its record.
   * @default false
   */
  readonly strict?: boolean;
  /**
   * How Lambda hears of a failure. `"report"`: by the answer, which names the first record of each partition that was not handled. The event
   * source mapping must have `ReportBatchItemFailures`: without it, Lambda ignores the answer, and the failed records are lost. `"throw"`:
   * by an error, after which Lambda hands over the whole batch again.
   * @default "report"
   */
  readonly failure?: "report" | "throw";
  /**
   * When the invocation has less time left than this, no further record is started, and none waits for its schema any longer: the rest is
   * reported as not handled. When Lambda itself ends the invocation, all of its records come again.
   * @default 1_000
   */
  readonly reserveMs?: number;
  /**
   * pino, or any object with its four methods. `false`: nothing is logged. What it throws or rejects with changes no answer.
   * @default warnings and errors, one line of JSON each, as pino writes them to stderr
   */
  readonly logger?: Logger | false;
}

export interface ResolvedLambdaHandlerOptions {
  readonly registry: RegistryOptions | SchemaSource | undefined;
  readonly decoder: NonNullable<LambdaHandlerOptions["decoder"]>;
  readonly strict: boolean;
  readonly throws: boolean;
  readonly reserveMs: number;
  readonly logger: Logger;
}

/** A new option does not compile without a name here. */
const names: Readonly<Record<keyof LambdaHandlerOptions, true>> = {
  registry: true,
  decoder: true,
  strict: true,
  failure: true,
  reserveMs: true,
  logger: true,
};

/** The longest time that Lambda gives an invocation. No record would be started if all of it were kept back. */
const maxInvocationMs = 900_000;

/** Every option, present and checked. */
export function resolveLambdaHandlerOptions(options: LambdaHandlerOptions = {}): ResolvedLambdaHandlerOptions {
  if (typeof options !== "object" || options === null) {
    throw invalid(`expected an object of options, found ${options === null ? "null" : typeof options}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(names, name)) {
      throw invalid(`${name} is no option; the options are ${Object.keys(names).join(", ")}`);
    }
  }
  const { registry, decoder = {}, strict = false, failure = "report", reserveMs = 1_000, logger } = options;
  if (typeof strict !== "boolean") {
    throw invalid(`expected strict to be true or false, found ${typeof strict}`);
  }
  if (failure !== "report" && failure !== "throw") {
    throw invalid(`expected failure to be "report" or "throw", found ${JSON.stringify(failure)}`);
  }
  if (!Number.isSafeInteger(reserveMs) || reserveMs < 0 || reserveMs >= maxInvocationMs) {
    const found = String(reserveMs);
    throw invalid(
      `expected reserveMs to be milliseconds, 0 or more and less than an invocation may take (${maxInvocationMs}), found ${found}`,
    );
  }
  checkDecoding(decoder, registry);
  checkLogger(logger);
  const target = logger === false ? silentLogger : guardedLogger(logger ?? stderrLogger);
  return Object.freeze({ registry, decoder, strict, throws: failure === "throw", reserveMs, logger: target });
}

function checkDecoding(decoder: unknown, registry: unknown): void {
  if (typeof decoder !== "object" || decoder === null || "schemas" in decoder) {
    throw invalid("expected decoder to be options of a decoder without schemas, or a decoder: give the schema source as registry");
  }
  if (registry !== undefined && (typeof registry !== "object" || registry === null)) {
    const found = registry === null ? "null" : `a ${typeof registry}`; // without its value: an address may hold a password
    throw invalid(`expected registry to be { url: "http://..." } or a schema source, found ${found}`);
  }
  if ("decode" in decoder && registry !== undefined) {
    throw invalid("registry is not asked by a decoder of your own: give it to createDecoder as schemas");
  }
}

/** What the logger throws changes no answer, and nobody would see that nothing is logged. */
function checkLogger(logger: unknown): void {
  const lacks = ["debug", "info", "warn", "error"].filter(
    (method) => typeof (logger as Record<string, unknown> | null)?.[method] !== "function",
  );
  if (logger !== undefined && logger !== false && lacks.length > 0) {
    const found = typeof logger === "object" && logger !== null ? `an object without ${lacks.join(", ")}` : String(logger);
    throw invalid(`expected logger to be pino, an object with the methods debug, info, warn and error, or false, found ${found}`);
  }
}

function invalid(detail: string): LambdaError {
  return new LambdaError("invalid-option", detail);
}
