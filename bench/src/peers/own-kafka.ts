import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKafka } from "../../../scripts/stack/kafka.mjs";
import { SchemaServer } from "../schema-server.ts";
import { recordedSchemas } from "./topics.ts";

/** A Kafka of the run's own, and a registry of the recorded schemas. */
export interface OwnKafka {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly classPath: string;
  readonly pid: number;
}

/** A broker that is measured: the compiler of the JVM may take its time, and finds room. */
const jvm = ["-Xms512m", "-Xmx1g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"];

/** Starts Kafka and the registry for as long as `use` takes, and stops them however it ends. */
export async function withOwnKafka<T>(
  { signal, config = {} }: { readonly signal: AbortSignal; readonly config?: Readonly<Record<string, string | number>> },
  use: (kafka: OwnKafka) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-peers-"));
  const registry = new SchemaServer(await recordedSchemas());
  try {
    await registry.start();
    const kafka = await startKafka({ dir, jvm, config, signal });
    try {
      return await use({ brokers: kafka.brokers, registryUrl: registry.url, classPath: kafka.classPath, pid: kafka.record.pid });
    } finally {
      await kafka.stop();
    }
  } finally {
    registry.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
