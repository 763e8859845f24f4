/** The order of the site's pages, by the names that `pages.mjs` gives them. */
import { readExamples } from "../example/examples.mjs";

const examplePages = readExamples().map(({ name }) => `examples/${name}.md`);

/** @type {readonly { readonly text: string, readonly pages: readonly string[], readonly collapsed?: boolean }[]} */
export const outline = [
  {
    text: "Begin",
    pages: ["index.md", "getting-started.md", "debezium-message.md", "connections.md", "docker.md"],
  },
  { text: "Examples", pages: examplePages },
  { text: "Understand", pages: ["detection.md", "formats.md", "events.md", "values.md", "types.md", "smt.md", "delivery.md"] },
  { text: "Do", pages: ["cookbook.md", "streams.md", "troubleshooting.md", "migration.md"] },
  { text: "Run", pages: ["packages.md", "kubernetes.md", "operations.md", "tuning.md", "sizing.md", "security.md"] },
  {
    text: "Runbooks",
    collapsed: true,
    pages: [
      "runbooks/consumer-not-ready.md",
      "runbooks/consumer-stopped.md",
      "runbooks/consumer-restarts.md",
      "runbooks/consumer-waits.md",
      "runbooks/consumer-lag-grows.md",
      "runbooks/consumer-dead-letters.md",
      "runbooks/consumer-lost-offsets.md",
      "runbooks/group-rebalances.md",
    ],
  },
  {
    text: "Packages",
    collapsed: true,
    pages: [
      "packages/cdckit.md",
      "packages/decode.md",
      "packages/registry.md",
      "packages/consumer.md",
      "packages/consumer-lifecycle.md",
      "packages/driver.md",
      "packages/kafkajs.md",
      "packages/confluent.md",
      "packages/platformatic.md",
      "packages/record-batch.md",
      "packages/json-schema.md",
      "packages/postgres.md",
      "packages/fastify.md",
      "packages/lambda.md",
      "packages/nestjs.md",
      "packages/testkit.md",
      "packages/cdc-bench.md",
    ],
  },
  {
    text: "Look up",
    pages: [
      "errors/index.md",
      "api.md",
      "compatibility.md",
      "guarantees.md",
      "published-benchmarks.md",
      "bench.md",
      "glossary.md",
      "changelog.md",
    ],
  },
  { text: "Take part", collapsed: true, pages: ["support.md", "security-policy.md", "contributing.md", "architecture.md"] },
];
