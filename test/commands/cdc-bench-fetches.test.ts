import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { BrokerProxy } from "../integration/broker-proxy.ts";
import { missingForKafka } from "../integration/secured-kafka.ts";
import { createTopics } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

const mebibyte = 1_048_576;
const batchBytes = 262_144;

/** Knows how long the longest answer of the broker was: `length: int32 | ...`. */
class MeasuringProxy extends BrokerProxy {
  longestAnswer = 0;

  protected answering(client: Socket): (chunk: Buffer) => void {
    let rest: Buffer = Buffer.alloc(0);
    return (chunk) => {
      client.write(chunk);
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const length = rest.readInt32BE(0);
        this.longestAnswer = Math.max(this.longestAnswer, length);
        rest = rest.subarray(4 + length);
      }
    };
  }
}

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("the fetches of cdc-bench compare", { meta: { skipReason } }, () => {
  const dir = mkdtempSync(join(tmpdir(), "cdc-bench-fetches-"));
  let kafka: RunningKafka;
  let proxy: MeasuringProxy;
  let brokers: string;

  beforeAll(async () => {
    const [inner = 0] = await freePorts(1);
    proxy = new MeasuringProxy(inner);
    const outer = await proxy.listen();
    brokers = `127.0.0.1:${outer}`;
    kafka = await startKafka({
      dir,
      listeners: { PROXIED: inner },
      advertised: { PROXIED: outer },
      config: { "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT" },
    });
    const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic: "rows", numPartitions: 1 }]);
    const value = JSON.stringify({ text: "x".repeat(batchBytes - 1_000) });
    for (let i = 0; i < 48; i++) {
      await producer.send({ topic: "rows", messages: [{ value }] });
    }
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });
  afterAll(async () => {
    proxy?.close();
    await kafka?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** The longest answer that the readers got, and what the settings say of it. */
  async function compare(...args: readonly string[]): Promise<{ readonly longestAnswer: number; readonly limit: unknown }> {
    proxy.longestAnswer = 0;
    const child = spawn(process.execPath, [binary, "compare", "-b", brokers, "-t", "rows", "--rounds", "1", "--json", ...args], {
      env: { PATH: process.env["PATH"], XDG_STATE_HOME: dir },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const out: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
    expect(await once(child, "close")).toEqual([0, null]);
    const { settings } = JSON.parse(out.join("")) as { readonly settings: Readonly<Record<string, unknown>> };
    return { longestAnswer: proxy.longestAnswer, limit: settings["maxBytesPerPartition"] };
  }

  test.for([
    ["cdckit alone", ["--no-peers"]],
    ["everybody", []],
  ] as const)("bring at most what the settings say, %s", async ([, args]) => {
    const { longestAnswer, limit } = await compare(...args);
    expect(limit).toBe(mebibyte);
    expect(longestAnswer).toBeGreaterThan(mebibyte / 2);
    expect(longestAnswer).toBeLessThan(mebibyte + batchBytes);
  });

  test("have the limit that --fetch-bytes gives", async () => {
    const { longestAnswer, limit } = await compare("--fetch-bytes", String(2 * mebibyte));
    expect(limit).toBe(2 * mebibyte);
    expect(longestAnswer).toBeGreaterThan(mebibyte + batchBytes);
    expect(longestAnswer).toBeLessThan(2 * mebibyte + batchBytes);
  });
});
