import { setTimeout as pass } from "node:timers/promises";
import type { Admin, Kafka } from "kafkajs";
import { BenchError } from "../bench-error.ts";
import { isPassing } from "./passing-answers.ts";

const deadlineMs = 30_000;
const askAgainMs = 100;

/**
 * Resolves when the leader of every partition of new topics answers for it. The brokers' metadata alone may name a leader that does not know
 * of it yet, and whatever is written then is refused.
 */
export async function untilLed(kafka: Kafka, topics: readonly NewTopicSize[]): Promise<void> {
  // An admin of its own: kafkajs goes on to ask for every topic that it was asked about, and fails when one of them is deleted.
  const admin = kafka.admin({ retry: { retries: 1, initialRetryTime: askAgainMs } });
  await admin.connect();
  try {
    const untilMs = performance.now() + deadlineMs;
    while (!(await areLed(admin, topics))) {
      if (performance.now() > untilMs) {
        throw new BenchError("connection", `the brokers took the new topics, and have had no leader for them for ${deadlineMs / 1e3} s.`);
      }
      await pass(askAgainMs);
    }
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

export interface NewTopicSize {
  readonly topic: string;
  readonly partitions: number;
}

async function areLed(admin: Admin, topics: readonly NewTopicSize[]): Promise<boolean> {
  try {
    for (const { topic, partitions } of topics) {
      if ((await admin.fetchTopicOffsets(topic)).length !== partitions) {
        return false;
      }
    }
    return true;
  } catch (error) {
    if (!isPassing(error)) {
      throw error;
    }
    return false;
  }
}
