import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import {
  addBacklogFlags,
  addProxyFlags,
  addTuningFlags,
  type BacklogFlags,
  type ProxyFlags,
  type TuningFlags,
} from "./catch-up-options.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { addLoginFlags } from "./login-options.ts";
import { parseCount, parseDurationMs, parseRegistryUrl } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addBrokersFlag, addFetchBytesFlag, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

export interface DrainFlags
  extends Omit<SourceFlags, "fetchBytes">,
    BacklogFlags,
    TuningFlags,
    ProxyFlags,
    DemandFlags,
    ResultFlags,
    CleanFlag,
    ProfileFlags {
  readonly events: number;
  readonly checkpointEvents: number;
  readonly rounds: number;
  readonly to: "handler" | "postgres" | "kafka" | "all";
  readonly via: "kafka" | "postgres";
  readonly connect?: string;
  readonly database?: string;
  readonly registry?: string;
  readonly converterRegistry?: string;
  readonly sinkUrl?: string;
  readonly work?: number;
  readonly slowSink?: number;
}

export function addDrain(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("drain");
  addFetchBytesFlag(addLoginFlags(addTlsFlags(addBrokersFlag(command))));
  command
    .option("-n, --events <count>", "events of the backlog (100k, 1m)", parseCount, 200_000)
    .option("--checkpoint-events <count>", "events that are handled before the consumer stops", parseCount, 2_000)
    .option("--rounds <count>", "drains of each kind, in turns", parseCount, 3)
    .addOption(
      new Option("--to <target>", "where events go to; a store is measured with at-least-once and with effectively-once")
        .choices(["handler", "postgres", "kafka", "all"])
        .default("handler"),
    )
    .addOption(
      new Option("--via <who>", "straight to Kafka, or rows through PostgreSQL and a Debezium connector of this run")
        .choices(["kafka", "postgres"])
        .default("kafka"),
    )
    .option("--database <url>", "the PostgreSQL of --via postgres, as Connect can reach it, too (env DATABASE_URL)")
    .option("--connect <url>", "Kafka Connect's REST API (env CONNECT_URL)", parseRegistryUrl)
    .option("--registry <url>", "with --via postgres, for avro and protobuf (env SCHEMA_REGISTRY_URL)", parseRegistryUrl)
    .option("--converter-registry <url>", "the same registry as Connect sees it (default: --registry)", parseRegistryUrl)
    .option("--sink-url <url>", "the PostgreSQL of --to postgres, such as postgres://user@localhost:5432/shop (env DRAIN_SINK_URL)")
    .option("--work <time>", "how long each call of the handler waits, as for a database", parseDurationMs)
    .option("--slow-sink <time>", "also measure two sinks of which one takes so much longer for each batch", parseDurationMs);
  addCleanFlag(addProfileFlags(addResultFlags(addDemandFlags(addProxyFlags(addTuningFlags(addBacklogFlags(command))))))).action(
    async (flags: DrainFlags) => {
      const { drain } = await import("./actions/drain.ts");
      settle(await drain(flags, terminal));
    },
  );
}
