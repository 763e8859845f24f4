import { BenchError } from "../../bench-error.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { openDatabase } from "../../load/database.ts";
import { backlogSource } from "../catch-up/backlog.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import type { DeliveryKind, OpenTarget, Target } from "../catch-up/target.ts";
import { handlerTarget } from "../catch-up/targets/handler.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import { countCommitted } from "./count-committed.ts";

/** What is measured: a target with a delivery. It is opened once for each round, so that every round starts with an empty one. */
export interface Contender extends Omit<Target, "name"> {
  readonly label: string;
  readonly target: string;
  open(round: number): Promise<OpenTarget>;
}

export const targetNames = ["handler", "postgres", "kafka"] as const;
export type TargetName = (typeof targetNames)[number];

export interface ContenderOptions {
  readonly targets: readonly TargetName[];
  readonly tuning: Tuning;
  readonly workMs: number;
  readonly partitions: number;
  /** Of the PostgreSQL that is written to. */
  readonly sinkUrl: string | undefined;
  readonly interrupt: AbortSignal;
}

/** kafkajs sends what goes to a partition as one batch: with caps of megabytes it is larger than brokers take by default. */
const copyConfig = { "max.message.bytes": "67108864" };

const deliveries: readonly DeliveryKind[] = ["at-least-once", "effectively-once"];

/** A handler has at-least-once alone; a store that can keep offsets with its rows has both, side by side. */
export function contendersOf(cluster: ClusterAccess, options: ContenderOptions): readonly Contender[] {
  return options.targets.flatMap((target): readonly Contender[] => {
    switch (target) {
      case "handler":
        return [
          {
            label: "handler, at-least-once",
            target,
            delivery: "at-least-once",
            open: async () => handlerTarget(options.tuning, options.workMs),
          },
        ];
      case "postgres":
        return deliveries.map((delivery) => ({
          label: `postgres, ${delivery}`,
          target,
          delivery,
          open: (round) => openPostgres(cluster, options, delivery, round),
        }));
      case "kafka":
        return deliveries.map((delivery) => ({
          label: `kafka, ${delivery}`,
          target,
          delivery,
          open: (round) => openKafka(cluster, options, delivery, round),
        }));
    }
  });
}

async function openPostgres(
  cluster: ClusterAccess,
  { sinkUrl }: ContenderOptions,
  delivery: DeliveryKind,
  round: number,
): Promise<OpenTarget> {
  if (sinkUrl === undefined) {
    throw new BenchError("usage", "which PostgreSQL is written to? Give --sink-url postgres://user@host:port/name (env DRAIN_SINK_URL).");
  }
  const { postgresTarget } = await import("../catch-up/targets/postgres.ts");
  const schema = cluster.name(`${delivery}-${round}`).replaceAll("-", "_");
  const at = withoutLogin(sinkUrl);
  const database = await openDatabase(sinkUrl); // first: what is made nowhere would stay listed
  try {
    await cluster.leftovers.making({ kind: "database-schema", name: schema, at });
    for (const table of [backlogSource.table, "cdckit_checkpoints"]) {
      await cluster.leftovers.making({ kind: "table", name: `${schema}.${table}`, at });
    }
    await database.query(`create schema "${schema}"`);
  } finally {
    await database.close();
  }
  return postgresTarget({ url: sinkUrl, schema, delivery });
}

async function openKafka(
  cluster: ClusterAccess,
  { partitions, interrupt }: ContenderOptions,
  delivery: DeliveryKind,
  round: number,
): Promise<OpenTarget> {
  const { kafkaTarget } = await import("../catch-up/targets/kafka.ts");
  const topic = cluster.name(`out-${delivery}-${round}`);
  await cluster.makeTopic(topic, { partitions, config: copyConfig });
  const target = kafkaTarget({ topic, delivery, countCommitted: (name) => countCommitted(cluster, name, interrupt) });
  // A copy of the backlog for each round would fill the disk.
  return { ...target, close: () => cluster.remove({ kind: "topic", name: topic }) };
}
