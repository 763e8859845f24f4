import { memory } from "@cdckit/testkit";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createConsumer } from "../consumer.ts";
import { metricsOf } from "./prometheus.ts";

test("a scrape asks a consumer for its health once", async () => {
  const consumer = createConsumer({ driver: memory({ topics: { orders: 1 } }), groupId: "billing", topics: ["orders"], signals: false });
  let asked = 0;
  const registry = new Registry();
  const join = metricsOf(registry, "billing", () => (asked++, consumer.health()), { wallMs: () => 0 });
  join();
  await registry.metrics();
  expect(asked).toBe(1);
  await registry.metrics();
  expect(asked).toBe(2);
});
