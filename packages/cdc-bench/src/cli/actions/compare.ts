import { randomBytes } from "node:crypto";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { cleanLeftovers, type Leftovers, openLeftovers } from "../../leftovers/leftovers.ts";
import { createRemover } from "../../leftovers/removers.ts";
import { type ClusterConnection, fetchLimitsOf } from "../../load/connection.ts";
import { openSchemas, requireRegistry } from "../../load/schemas.ts";
import { type ClusterSource, openingPhase, type Source } from "../../load/source.ts";
import { openTopicSource } from "../../load/topic-source.ts";
import { createObserver, type Observer } from "../../observe/observer.ts";
import { describeEnvironment, versionsOf } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import { compareMetrics, compareResult } from "../../scenario/compare/compare-result.ts";
import { clusterContestants } from "../../scenario/compare/cluster-contestants.ts";
import { compareRounds } from "../../scenario/compare/comparison.ts";
import type { Contestant } from "../../scenario/compare/contestant.ts";
import { recordedContestants } from "../../scenario/compare/recorded-contestants.ts";
import { type PlayedContestant, runRounds } from "../../scenario/compare/run-rounds.ts";
import { makeThrowAwayTopics } from "../../scenario/compare/throw-away-topics.ts";
import type { Terminal } from "../../terminal.ts";
import { judge, verdictExitCode } from "../../verdict/verdict.ts";
import type { CompareFlags } from "../compare.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import type { Profiling } from "../../profile/profiling.ts";
import { writeResult } from "../result-options.ts";
import { requireCluster, resolveCluster, resolveSource } from "../resolve-source.ts";

export async function compare(flags: CompareFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection, registry } =
    flags.file === undefined ? resolveCluster(flags, terminal.env) : { connection: undefined, registry: undefined };
  const remover = createRemover({ connection, registry });
  try {
    if (flags.clean === true) {
      return await cleanLeftovers({ terminal, remove: remover.remove });
    }
    const source = sourceOf(flags, terminal);
    const demands = resolveDemands(flags, "compare");
    const profiling = openProfiling(flags, "compare");
    const sink = await openResultSink(terminal, flags.output);
    const observer = createObserver(terminal);
    const leftovers = await openLeftovers({ command: "compare", terminal, remove: remover.remove });
    const runTime = startRunTime();
    try {
      const { played, topics, heldBack } = await play(flags, source, leftovers, terminal, observer, profiling);
      observer.end();
      const comparison = compareRounds(played);
      const verdict = judge(compareMetrics(comparison), demands);
      const rounds = played.length === 0 ? 0 : Math.min(...played.map((each) => each.rounds.length));
      const result = compareResult({
        ...runTime(),
        aborted: terminal.interrupt.aborted,
        environment: describeEnvironment(versionsOf(["protobufjs"])),
        settings: settingsOf(flags, source, topics),
        rounds,
        comparison,
        isInMemory: source.kind === "file",
        hasSameRows: flags.rows !== undefined,
        heldBack,
        verdict,
      });
      await writeResult(sink, flags, await profiling.addTo(result));
      return endOf(result.aborted, played, verdict);
    } finally {
      observer.end();
      await leftovers.close();
      await sink.close();
    }
  } finally {
    await remover.close();
  }
}

function sourceOf(flags: CompareFlags, terminal: Terminal): Source {
  if (flags.rows === undefined) {
    return resolveSource(flags, terminal.env);
  }
  if (flags.topics !== undefined || flags.file !== undefined) {
    throw new BenchError("usage", "--rows writes topics of its own: leave --topics and --file away.");
  }
  if (flags.registryIds !== undefined) {
    throw new BenchError(
      "usage",
      "--rows and --registry-ids do not go together: what is written has the ids that the registry gives for it.",
    );
  }
  const { connection, registry } = requireCluster(flags, terminal.env);
  return { kind: "cluster", connection, topics: [], registry };
}

interface Played {
  readonly played: readonly PlayedContestant[];
  readonly topics: readonly string[];
  /** What open transactions hold back, in sentences. */
  readonly heldBack: readonly string[];
}

async function play(
  flags: CompareFlags,
  source: Source,
  leftovers: Leftovers,
  terminal: Terminal,
  observer: Observer,
  { record }: Profiling,
): Promise<Played> {
  const { interrupt, logger } = terminal;
  const schemas = openSchemas(source);
  await requireRegistry(source.registry);
  observer.observe(() => ({ phase: openingPhase(source) }));
  if (source.kind === "file") {
    const { file } = source;
    const contestants = await recordedContestants({ file, schemas, withPeers: flags.peers, repeat: flags.repeat, interrupt });
    if (contestants.length === 0) {
      throw new BenchError("too-few-messages", `${file} has no records: record a topic, or name another file.`);
    }
    return record(() => playAll(flags, contestants, interrupt, observer));
  }
  const topics = flags.rows === undefined ? source.topics : await writeRows(flags, flags.rows, source, leftovers, terminal, observer);
  if (interrupt.aborted) {
    return { played: [], topics, heldBack: [] }; // rows may be missing, and a topic without any is no fault of the user
  }
  const topicSource = await openTopicSource({ ...source, topics }, observer, terminal);
  try {
    const empty = topicSource.extents.find(({ maxRecords }) => maxRecords === 0n);
    if (empty !== undefined) {
      throw new BenchError("too-few-messages", `${empty.topic} has no records: seed it (cdc-bench produce), or compare others.`);
    }
    const { connection } = source;
    const withPeers = flags.peers;
    observer.observe(() => ({ phase: "detecting formats" }));
    const contestants = await clusterContestants({ connection, source: topicSource, schemas, leftovers, withPeers, interrupt, logger });
    // The names of throw-away topics are new each time, and a baseline has those of another run.
    const named = flags.rows === undefined ? contestants : contestants.map((each) => ({ ...each, topic: withoutPrefix(each.topic) }));
    return { ...(await record(() => playAll(flags, named, interrupt, observer))), heldBack: [...topicSource.heldBack.values()] };
  } finally {
    await topicSource.close();
  }
}

const throwAwayPrefix = "cdc-bench-compare-";
const suffixBytes = 4;

function withoutPrefix(topic: string): string {
  return topic.slice(throwAwayPrefix.length + suffixBytes * 2 + 1);
}

async function playAll(
  { rounds }: CompareFlags,
  contestants: readonly Contestant[],
  interrupt: AbortSignal,
  observer: Observer,
): Promise<Played> {
  const total = contestants.length * (rounds + 1);
  let done = 0;
  const played = await runRounds(contestants, rounds, interrupt, ({ topic, reader }, round) => {
    const before = done++;
    observer.observe(() => ({
      phase: `${round === 0 ? "warming up" : `round ${round} of ${rounds}`}: ${reader} on ${topic}`,
      done: before,
      total,
      unit: "readings",
    }));
  });
  return { played, topics: [...new Set(contestants.map(({ topic }) => topic))], heldBack: [] };
}

function writeRows(
  flags: CompareFlags,
  rows: number,
  source: ClusterSource,
  leftovers: Leftovers,
  { interrupt }: Terminal,
  observer: Observer,
): Promise<readonly string[]> {
  const { connection, registry } = source;
  const prefix = `${throwAwayPrefix}${randomBytes(suffixBytes).toString("hex")}`;
  const { formats, partitions, seed } = flags;
  return makeThrowAwayTopics({ connection, registry, prefix, formats, rows, partitions, seed, leftovers, interrupt, observer });
}

function endOf(aborted: boolean, played: readonly PlayedContestant[], verdict: Parameters<typeof verdictExitCode>[0]): ExitCode {
  if (aborted) {
    return exitCodes.interrupted;
  }
  const failing = played.some(
    ({ contestant, rounds }) => contestant.kind === "cdckit" && rounds.some(({ errorRecords }) => errorRecords > 0),
  );
  return failing ? exitCodes.decodeErrors : verdictExitCode(verdict);
}

function settingsOf(flags: CompareFlags, source: Source, topics: readonly string[]): Readonly<Record<string, unknown>> {
  const { maxDecompressedBytes } = flags;
  const limits = (connection: ClusterConnection): Readonly<Record<string, unknown>> => ({
    ...fetchLimitsOf(connection),
    ...(maxDecompressedBytes !== undefined && { maxDecompressedBytes }),
  });
  return {
    source: source.kind === "cluster" ? source.connection.brokers.join(",") : source.file,
    topics,
    rounds: flags.rounds,
    client: flags.client,
    peers: flags.peers,
    ...(flags.rows !== undefined && { rows: flags.rows, seed: flags.seed, partitions: flags.partitions }),
    ...(source.kind === "cluster" ? limits(source.connection) : { repeat: flags.repeat }),
  };
}
