import type { RunnableConsumer } from "@cdckit/consumer";
import { FastifyCdcError } from "./errors.ts";

/** The part of a prom-client `Registry` that is used. */
export interface MetricsRegistry {
  /** The `content-type` of the response that holds the metrics. */
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  metrics(): string | Promise<string>;
}

/** The options of the plugin. `consumer` is required. */
export interface FastifyCdcOptions {
  /** The consumer, with its handlers registered and not started: the plugin starts and stops it. */
  readonly consumer: RunnableConsumer;
  /**
   * The name under which the app has the consumer: `app.cdc`. A second consumer of one app needs another name, and other paths.
   * @default "cdc"
   */
  readonly name?: string;
  /**
   * The path that answers 200 while the consumer should be kept, and 503 after that. `false`: no such route.
   * @default "/healthz"
   */
  readonly livePath?: string | false;
  /**
   * The path that answers 200 while the consumer is a member of its group and nothing holds it up. `false`: no such route.
   * @default "/readyz"
   */
  readonly readyPath?: string | false;
  /** The registry that `metricsPath` shows: the one that the consumer got as `telemetry.prometheus`. Without it, there is no such route. */
  readonly metrics?: MetricsRegistry;
  /**
   * The path that answers with the metrics.
   * @default "/metrics"
   */
  readonly metricsPath?: string;
  /**
   * Whether the app closes when the consumer has ended by itself: stopped by a signal, or halted. `false`: the app stays, and `livePath`
   * answers 503.
   * @default true
   */
  readonly closeApp?: boolean;
  /**
   * Called when the consumer has ended by itself, with the error that halted it, or null if it was stopped. Called with an error also while the
   * app closes, as when the stop abandoned work (`work-abandoned`). What it throws or rejects with is logged. The app does not wait for it
   * before it closes.
   */
  readonly onEnd?: (error: Error | null) => void | Promise<void>;
}

export interface ResolvedFastifyCdcOptions {
  readonly consumer: RunnableConsumer;
  readonly name: string;
  readonly livePath: string | false;
  readonly readyPath: string | false;
  readonly metrics: MetricsRegistry | null;
  readonly metricsPath: string;
  readonly closeApp: boolean;
  readonly onEnd: (error: Error | null) => void | Promise<void>;
}

/** A new option does not compile without a name here. */
const names: Readonly<Record<keyof FastifyCdcOptions, true>> = {
  consumer: true,
  name: true,
  livePath: true,
  readyPath: true,
  metrics: true,
  metricsPath: true,
  closeApp: true,
  onEnd: true,
};

/** What Fastify's own `register` takes beside a plugin's options. A prefix is not among them: it has no effect on this plugin. */
const fastifyNames = new Set(["logLevel", "logSerializers"]);

/** Every option, present and checked. */
export function resolveFastifyCdcOptions(options: FastifyCdcOptions): ResolvedFastifyCdcOptions {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(names, name) && !fastifyNames.has(name)) {
      throw invalid(`${name} is no option; the options are ${Object.keys(names).join(", ")}`);
    }
  }
  const {
    consumer,
    name = "cdc",
    metrics,
    metricsPath = "/metrics",
    livePath = "/healthz",
    readyPath = "/readyz",
    closeApp = true,
  } = options;
  checkMethods("consumer", consumer, ["run", "stop", "health"], "a consumer, as createConsumer() makes it");
  if (metrics !== undefined) {
    checkMethods("metrics", metrics, ["metrics"], "a registry of prom-client");
  }
  if (typeof name !== "string" || name === "") {
    throw invalid(`expected name to be a name, found ${typeof name}`);
  }
  for (const [option, path] of Object.entries({ livePath, readyPath, metricsPath })) {
    if (path !== false && (typeof path !== "string" || !path.startsWith("/"))) {
      throw invalid(`expected ${option} to be a path such as "/healthz", found ${JSON.stringify(path)}`);
    }
  }
  const { onEnd = () => {} } = options;
  if (typeof closeApp !== "boolean") {
    throw invalid(`expected closeApp to be true or false, found ${typeof closeApp}`);
  }
  if (typeof onEnd !== "function") {
    throw invalid(`expected onEnd to be a function, found ${typeof onEnd}`);
  }
  return Object.freeze({ consumer, name, livePath, readyPath, metrics: metrics ?? null, metricsPath, closeApp, onEnd });
}

function checkMethods(option: string, value: unknown, methods: readonly string[], expected: string): void {
  const has = typeof value === "object" && value !== null && methods.every((method) => typeof Reflect.get(value, method) === "function");
  if (!has) {
    throw invalid(`expected ${option} to be ${expected}, found ${value === null ? "null" : typeof value}`);
  }
}

function invalid(detail: string): FastifyCdcError {
  return new FastifyCdcError("invalid-option", detail);
}
