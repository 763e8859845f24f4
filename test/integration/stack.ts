import { get } from "node:http";
import { describe, inject } from "vitest";
import type { Answer, SharedKafka, SharedMariadb, SharedStack } from "./stack-service.ts";

export { createLedTopics as createTopics } from "../../scripts/stack/topics.mjs";
export type { SharedKafka, SharedMariadb, SharedStack } from "./stack-service.ts";

/** The part asked for, or the sentence that says why the tests which need it are skipped. */
export type Found<Part> = { readonly skip: false; readonly part: Part } | { readonly skip: string };

/**
 * The broker that this run's integration tests share: one node, no automatic topics, replication 1. Call it at the top of a test file;
 * the first call of a run starts it.
 */
export function withKafka(): Promise<Found<SharedKafka>> {
  return ask("/kafka");
}

/** The whole stack that this run's integration tests share: Kafka, registry, PostgreSQL, Connect with Debezium and three connectors. */
export function withStack(): Promise<Found<SharedStack>> {
  return ask("/stack");
}

/** The MariaDB that this run's integration tests share, beside the stack. */
export function withMariadb(): Promise<Found<SharedMariadb>> {
  return ask("/mariadb");
}

/**
 * A suite that runs against the shared broker, or is reported as skipped with the reason. `concurrent`: its tests run beside each other, which
 * suits those that have topics and groups of their own and wait for most of their time.
 */
export async function describeWithKafka(
  name: string,
  body: (kafka: SharedKafka) => void,
  { concurrent = false }: { readonly concurrent?: boolean } = {},
): Promise<void> {
  const found = await withKafka();
  if (found.skip !== false) {
    describe.skip(name, { meta: { skipReason: found.skip } }, () => body(nowhere));
  } else {
    describe(name, { concurrent }, () => body(found.part));
  }
}

// Suites are read even when they are skipped, so their bodies need something to read.
const nowhere: SharedKafka = { brokers: "127.0.0.1:1", classPath: "" };

let topics = 0;

/** A topic name that no other test of this run uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${process.pid}-${++topics}`;
}

async function ask<Part>(path: string): Promise<Found<Part>> {
  const answer = JSON.parse(await read(`${inject("stackServiceUrl")}${path}`)) as Answer<Part> & { readonly failed?: true };
  if ("part" in answer) return { skip: false, part: answer.part };
  if (answer.failed) throw new Error(answer.missing);
  return { skip: answer.missing };
}

/** Not `fetch`: the first start of all downloads jars for minutes, and fetch would give up on headers that late. */
function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject).once("end", () => resolve(Buffer.concat(chunks).toString()));
    }).once("error", reject);
  });
}
