import { checkCount, checkDelay, checkMembers, checkMethods } from "../option-checks.ts";
import { readMember } from "../user-code/user-value.ts";
import type { OpenTelemetryApi } from "./opentelemetry.ts";
import type { PrometheusRegistry } from "./prometheus.ts";

/** How often the brokers are asked where the logs end, and when a partition counts as stuck. */
export interface HealthOptions {
  /**
   * How long a partition may have records to read without moving before `health()` reports it. With this default and that of
   * `lagIntervalMs`, it is reported within a minute. With `workers`, a thread that was running and says nothing for so long has failed.
   * @default 40_000
   */
  readonly stuckAfterMs?: number;
  /**
   * How often the brokers are asked where the logs end.
   * @default 10_000
   */
  readonly lagIntervalMs?: number;
}

/** Where spans and metrics go. */
export interface TelemetryOptions {
  /** The whole module `@opentelemetry/api`. Spans and metrics of handlers go to what the application has set up there. */
  readonly opentelemetry?: OpenTelemetryApi;
  /** A registry of prom-client. The consumer shows its figures there from its start on. Consumers of one group are joined. */
  readonly prometheus?: PrometheusRegistry;
}

export interface ResolvedHealthOptions {
  readonly stuckAfterMs: number;
  readonly lagIntervalMs: number;
}

export function resolveHealthOptions(options: HealthOptions = {}): ResolvedHealthOptions {
  checkMembers("health", options, ["stuckAfterMs", "lagIntervalMs"]);
  const { stuckAfterMs = 40_000, lagIntervalMs = 10_000 } = options;
  checkCount("health.stuckAfterMs", stuckAfterMs);
  checkDelay("health.lagIntervalMs", lagIntervalMs);
  return Object.freeze({ stuckAfterMs, lagIntervalMs });
}

/** What is called of `@opentelemetry/api`. Without one of them, each handler call would go unreported. */
const apiMethods: Readonly<Record<keyof OpenTelemetryApi, readonly string[]>> = {
  trace: ["getTracer", "getSpan", "getSpanContext", "setSpan", "deleteSpan"],
  metrics: ["getMeter"],
  context: ["active", "with"],
  propagation: ["extract", "fields"],
};

export function resolveTelemetryOptions(options: TelemetryOptions = {}): TelemetryOptions {
  checkMembers("telemetry", options, ["opentelemetry", "prometheus"]);
  const { opentelemetry, prometheus } = options;
  if (prometheus !== undefined) {
    const expected = "a registry of prom-client, as its register or a new Registry()";
    checkMethods("telemetry.prometheus", prometheus, ["registerMetric", "removeSingleMetric"], expected);
  }
  if (opentelemetry !== undefined) {
    const expected = 'of the whole module, as from import * as opentelemetry from "@opentelemetry/api"';
    for (const [name, methods] of Object.entries(apiMethods)) {
      checkMethods(`telemetry.opentelemetry.${name}`, readMember(opentelemetry, name), methods, expected);
    }
  }
  return Object.freeze({ ...options });
}
