import { memory } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createConsumer } from "../consumer.ts";
import { metricsOf } from "./prometheus.ts";

interface Metric {
  get(): Promise<unknown>;
}

test("a scrape, which asks for all metrics in one turn, asks a consumer for its health once", async () => {
  const consumer = createConsumer({ driver: memory({ topics: { orders: 1 } }), groupId: "billing", topics: ["orders"], signals: false });
  const metrics: Metric[] = [];
  const registry = { registerMetric: (metric: Metric) => void metrics.push(metric), removeSingleMetric: () => void metrics.splice(0, 1) };
  let asked = 0;
  metricsOf(registry as never, "billing", () => (asked++, consumer.health()), { wallMs: () => 0 })();
  for (const scrapes of [1, 2]) {
    await Promise.all(metrics.map((metric) => metric.get()));
    expect(asked).toBe(scrapes);
  }
  expect(metrics.length).toBeGreaterThan(10);
});
