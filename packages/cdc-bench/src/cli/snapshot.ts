import { type Command, InvalidArgumentError } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import * as defaults from "../scenario/snapshot/defaults.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { addLoginFlags, type LoginFlags } from "./login-options.ts";
import { collectNames, parseCount, parseDurationMs, parseRegistryUrl } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addBrokersFlag } from "./source-options.ts";
import { addTlsFlags, type TlsFlags } from "./tls-options.ts";

export interface SnapshotFlags extends DemandFlags, ResultFlags, ProfileFlags, CleanFlag, TlsFlags, LoginFlags {
  readonly brokers?: readonly string[];
  readonly registry?: string;
  readonly converterRegistry?: string;
  readonly connect?: string;
  readonly connector?: string;
  readonly database?: string;
  readonly stack?: string;
  readonly table?: string;
  readonly rows?: number;
  readonly rounds?: number;
  readonly seed: number;
  readonly formats?: readonly string[];
  readonly tailRate: number;
  readonly tail?: number | false;
  readonly quick?: boolean;
  readonly keep?: boolean;
  readonly priceStorage?: number;
  readonly priceTraffic?: number;
}

export function addSnapshot(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program
    .command("snapshot")
    .option("--connect <url>", "Kafka Connect's REST API (env CONNECT_URL)", parseRegistryUrl)
    .option("--connector <file>", "a connector of your own as JSON: its database and settings; names, table and converters are replaced")
    .option("--database <url>", "postgres:// or mariadb://: whose table it is, and where rows are added (env DATABASE_URL)")
    .option("--stack <folder>", "addresses of a stack of npm run stack:up (default: .stack, if it is there)")
    .option("--registry <url>", "schema registry, Confluent API (env SCHEMA_REGISTRY_URL)", parseRegistryUrl)
    .option("--converter-registry <url>", "the registry as Connect's converters call it (env CONVERTER_REGISTRY_URL)", parseRegistryUrl);
  addLoginFlags(addTlsFlags(addBrokersFlag(command)))
    .option("--table <name>", "an existing table, [schema.]name; without it one is made and dropped")
    .option("--rows <n>", `rows of the table that is made (default: ${defaults.defaultRows})`, parseCount)
    .option("--seed <n>", "what its rows are made from", parseCount, 1)
    .option("--formats <names>", "json-schema, json, avro, protobuf (default: what this Connect can write)", collectNames)
    .option("--rounds <n>", `so many rounds, each in another order (default: ${defaults.defaultRounds})`, parseCount)
    .option("--tail <time>", `how long rows are added for latencies (default: ${defaults.defaultTailMs / 1e3}s)`, parseDurationMs)
    .option("--no-tail", "add no rows, and measure no latency")
    .option("--tail-rate <n>", "so many rows a second", parseCount, defaults.defaultTailRowsPerSecond)
    .option("--quick", `${defaults.quick.rows} rows, ${defaults.quick.rounds} round, a shorter tail`)
    .option("--price-storage <price>", "of 10^9 bytes stored for a month: adds the cost of a million events", parsePrice)
    .option("--price-traffic <price>", "of 10^9 bytes sent", parsePrice)
    .option("--keep", "leave topics and schemas where they are");
  addCleanFlag(addProfileFlags(addResultFlags(addDemandFlags(command)))).action(async (flags: SnapshotFlags) => {
    const { snapshot } = await import("./actions/snapshot.ts");
    settle(await snapshot(flags, terminal));
  });
}

function parsePrice(text: string): number {
  const price = Number(text);
  if (text.trim() === "" || !Number.isFinite(price) || price < 0) {
    throw new InvalidArgumentError("It must be a price without a currency, such as 0.023.");
  }
  return price;
}
