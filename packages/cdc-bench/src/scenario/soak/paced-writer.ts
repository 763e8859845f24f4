import { type Message, Partitioners, type Producer } from "kafkajs";
import { performance } from "node:perf_hooks";
import { type ChangeFormat, createChangeStream, defaultOpMix } from "../../load/change-events/index.ts";
import { explainRefusedWrite } from "../../load/explain-refusal.ts";
import { backlogSource } from "../catch-up/backlog.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import { givenSchemas } from "../catch-up/given-schemas.ts";
import { evenSchedule, type Schedule } from "../schedule.ts";

const tickMs = 20;
const maxPerSend = 1_000;

/** Writes change events at a set rate. The time of each record is when it should have been written, also if the writer is late. */
export interface PacedWriter {
  readonly written: number;
  /** How late the next record is by now: it is 0 until it is due, and grows while brokers do not answer. */
  readonly behindMs: number;
  /** Rejects with what it failed with; resolves after a stop. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface PacedWriterOptions {
  readonly cluster: Pick<ClusterAccess, "kafka" | "connection">;
  readonly topic: string;
  readonly format: ChangeFormat;
  readonly perSecond: number;
  readonly seed: number;
}

export async function startPacedWriter(options: PacedWriterOptions): Promise<PacedWriter> {
  const producer = options.cluster.kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    retry: { retries: 12, initialRetryTime: 100, maxRetryTime: 2_000 }, // a leader that moves must not end a soak of hours
  });
  await producer.connect();
  return new Writer(options, producer);
}

class Writer implements PacedWriter {
  readonly #options: PacedWriterOptions;
  readonly #producer: Producer;
  readonly #schedule: Schedule;
  readonly #stop = new AbortController();
  readonly #startedAtMs = performance.now();
  readonly done: Promise<void>;
  written = 0;

  constructor(options: PacedWriterOptions, producer: Producer) {
    this.#options = options;
    this.#producer = producer;
    this.#schedule = evenSchedule(options.perSecond);
    this.done = this.#write();
    this.done.catch(() => {}); // whoever waits for it is told
  }

  get behindMs(): number {
    return Math.max(0, this.#elapsedMs - this.#schedule.dueMs(this.written));
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.done.catch(() => {}); // told by `done`
    await this.#producer.disconnect().catch(() => {}); // what was sent is acknowledged
  }

  async #write(): Promise<void> {
    const { cluster, topic, format, seed } = this.#options;
    const { ids } = givenSchemas(format, backlogSource);
    const stream = createChangeStream({ seed, mix: defaultOpMix, source: backlogSource });
    const encoder = format.createEncoder(backlogSource, ids);
    const startedAtWallMs = Date.now();
    while (!this.#stop.signal.aborted) {
      const due = Math.min(maxPerSend, this.#schedule.dueBy(this.#elapsedMs) - this.written);
      if (due < 1) {
        await pause(tickMs, this.#stop.signal);
        continue;
      }
      const messages: Message[] = [];
      for (let i = 0; i < due; i++) {
        const intendedMs = startedAtWallMs + this.#schedule.dueMs(this.written + i);
        const { id, envelope } = stream.next(intendedMs * 1e3);
        messages.push({
          key: encoder.key({ id }),
          value: envelope === null ? null : encoder.value(envelope),
          timestamp: String(Math.floor(intendedMs)),
        });
      }
      await this.#producer.send({ topic, messages, acks: -1 }).catch(async (error: unknown) => {
        throw await explainRefusedWrite(cluster.connection, error, [topic]);
      });
      this.written += due;
    }
  }
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    signal.addEventListener("abort", end, { once: true });
  });
}
