/** Members that are told to stop at any moment, whatever kafkajs is at and whatever the network does: real processes, a real Kafka. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { Random } from "../fuzz/random.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

export interface StopsReport {
  readonly slowestMs: number;
  /** The stops that took longer than they may. */
  readonly late: readonly string[];
}

const memberScript = fileURLToPath(new URL("./member.mjs", import.meta.url));
const shutdownTimeoutMs = 2_000;
/** The consumer's own deadlines (the drain, and a second each for a last commit and the good-bye), and something for a busy machine. */
const allowedMs = shutdownTimeoutMs + 2_000 + 5_000;

export async function runStops(stops: number, seed: number, log?: (line: string) => void): Promise<StopsReport> {
  const { dir, kafka, proxy, stop } = await startProxiedKafka();
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const [producer, admin] = [client.producer({ idempotent: true, maxInFlightRequests: 1 }), client.admin()];
  try {
    await Promise.all([producer.connect(), admin.connect()]);
    await admin.createTopics({ topics: [{ topic: "rows", numPartitions: 4 }], waitForLeaders: true });
    const messages = Array.from({ length: 4_000 }, (_, id) => ({ key: JSON.stringify({ id }), value: JSON.stringify({ id }) }));
    await producer.send({ topic: "rows", messages });
    const random = new Random(seed);
    const late: string[] = [];
    let slowestMs = 0;
    for (let i = 0; i < stops; i++) {
      const what = random.pick(["nothing", "nothing", "cut", "swallow", "cut and heal", "swallow and heal"] as const);
      const beforeMs = random.below(3_500);
      const betweenMs = random.below(random.pick([50, 500, 4_000]));
      const concurrency = random.pick([1, 8]);
      const member = memberOf({ groupId: `stop-${i % 3}`, port: proxy.port, audit: join(dir, "audit.txt"), concurrency });
      await pass(beforeMs);
      disturb(proxy, what);
      await pass(betweenMs);
      if (what.endsWith("heal")) {
        proxy.heal();
      }
      const words: Buffer[] = [];
      member.stderr?.on("data", (chunk: Buffer) => words.push(chunk));
      const tookMs = await stopped(member);
      proxy.heal();
      const said = `${what} after ${beforeMs} ms, stopped ${betweenMs} ms later: ${Math.round(tookMs)} ms`;
      log?.(said);
      slowestMs = Math.max(slowestMs, tookMs);
      if (tookMs > allowedMs) {
        late.push(`${said}; ${Buffer.concat(words).toString()}`);
      }
    }
    return { slowestMs, late };
  } finally {
    await Promise.all([producer.disconnect(), admin.disconnect()]);
    await stop();
  }
}

interface MemberParts {
  readonly groupId: string;
  readonly port: number;
  readonly audit: string;
  readonly concurrency: number;
}

function memberOf({ groupId, port, audit, concurrency }: MemberParts): ChildProcess {
  const options = {
    brokers: `127.0.0.1:${port}`,
    topic: "rows",
    groupId,
    audit,
    delayMs: 2,
    shutdownTimeoutMs,
    delivery: { concurrency },
  };
  return spawn(process.execPath, [memberScript, JSON.stringify(options)], { stdio: ["ignore", "ignore", "pipe"] });
}

function disturb(proxy: TcpProxy, what: string): void {
  if (what.startsWith("cut")) {
    proxy.cut();
  } else if (what.startsWith("swallow")) {
    proxy.swallow();
  }
}

/** How long it took to end. One that does not end is killed. */
async function stopped(member: ChildProcess): Promise<number> {
  const begin = performance.now();
  const ended = new Promise<true>((resolve) => {
    if (member.exitCode !== null || member.signalCode !== null) {
      resolve(true);
    }
    member.once("exit", () => resolve(true));
  });
  member.kill("SIGTERM");
  if (!(await Promise.race([ended, pass(30_000, false, { ref: false })]))) {
    member.kill("SIGKILL");
  }
  return performance.now() - begin;
}
