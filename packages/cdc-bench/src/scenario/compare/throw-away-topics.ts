import type { Leftovers } from "../../leftovers/leftovers.ts";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { openBatchWriter } from "../../load/batch-writer/batch-writer.ts";
import {
  type ChangeFormat,
  type ChangeFormatName,
  changeFormat,
  changeFormats,
  defaultOpMix,
  registerSchemas,
  type SchemaIds,
  subjectsOf,
} from "../../load/change-events/index.ts";
import { requireAnswer } from "../../load/cluster.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import { createTopics } from "../../load/topics.ts";
import type { Observer } from "../../observe/observer.ts";
import { formatsWithoutRegistry, planTopics, sourceOf } from "../produce/produce-plan.ts";
import { runProduce } from "../produce/run-produce.ts";

export interface ThrowAwayOptions {
  readonly connection: ClusterConnection;
  readonly registry: RegistryConnection | undefined;
  readonly prefix: string;
  /** Undefined: every format that can be written. */
  readonly formats: readonly ChangeFormatName[] | undefined;
  readonly rows: number;
  readonly partitions: number;
  readonly seed: number;
  readonly leftovers: Leftovers;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

const batchBytes = 262_144;
const maxInFlight = 5;

/** Writes the same rows to a topic in each format, and gives the topics. They and their subjects are listed in `leftovers`. */
export async function makeThrowAwayTopics(options: ThrowAwayOptions): Promise<readonly string[]> {
  const { connection, registry, prefix, rows, partitions, seed, leftovers, interrupt, observer } = options;
  const topics = planTopics(prefix, formatsOf(options), ["none"]);
  const names = topics.map(({ topic }) => topic);
  await requireAnswer(connection, {}); // what nobody was there to make would stay listed
  for (const name of names) {
    await leftovers.making({ kind: "topic", name, at: brokersText(connection) });
  }
  await createTopics(
    connection,
    names.map((topic) => ({ topic, partitions })),
  );
  const schemaIds = new Map<string, SchemaIds | null>();
  for (const { topic, format } of topics) {
    if (registry !== undefined && format.schemas(sourceOf(topic)).length > 0) {
      for (const subject of subjectsOf(topic)) {
        await leftovers.making({ kind: "registry-subject", name: subject, at: withoutLogin(registry.url) });
      }
    }
    schemaIds.set(topic, await registerSchemas(format, sourceOf(topic), topic, registry));
  }
  const writer = await openBatchWriter(connection, names, -1);
  try {
    await runProduce({
      writer,
      topics,
      schemaIds,
      seed,
      mix: defaultOpMix,
      rows,
      maxDurationMs: undefined,
      perSecond: undefined,
      batchBytes,
      maxInFlight,
      headers: false,
      isAcknowledged: true,
      interrupt,
      observer,
    });
  } finally {
    await writer.close();
  }
  return names;
}

function formatsOf({ formats, registry }: ThrowAwayOptions): readonly ChangeFormat[] {
  return formats?.map((name) => changeFormat(name) as ChangeFormat) ?? (registry === undefined ? formatsWithoutRegistry : changeFormats);
}
