import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { throwAwayGroup } from "../../load/cluster.ts";
import { missingSchemasNote, requireRegistry } from "../../load/schemas.ts";
import { type ClusterSource, openingPhase, type Source } from "../../load/source.ts";
import { openTopicSource } from "../../load/topic-source.ts";
import { requireWhole } from "../../load/whole-reading.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import { groupMetrics, groupRunResult, type RunSettings } from "../../result/run-result.ts";
import { measureProcesses, type ProcessesOutcome } from "../../scenario/processes/measure-processes.ts";
import type { Terminal } from "../../terminal.ts";
import { judge, type Verdict, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import { writeResult } from "../result-options.ts";
import type { RunFlags } from "../run.ts";

/** Flags that say something of one reading, which several processes are not. */
const alone = [
  ["tail", "--tail"],
  ["limit", "--limit"],
  ["validate", "--validate"],
  ["profile", "--profile"],
] as const;

/** `run --processes N`: all topics together, by N processes in one group. */
export async function runProcesses(
  source: Source,
  processes: number,
  settings: RunSettings,
  flags: RunFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  if (source.kind === "file") {
    throw new BenchError("usage", "--processes reads as a consumer group, and a recording has none: give --brokers and --topics.");
  }
  const stray = alone.find(([name]) => flags[name] !== undefined);
  if (stray !== undefined) {
    throw new BenchError(
      "usage",
      `--processes and ${stray[1]} do not go together: several processes are measured until the end of the topics.`,
    );
  }
  const demands = resolveDemands(flags, "run");
  const sink = await openResultSink(terminal, flags.output);
  try {
    const runTime = startRunTime();
    const { outcome, heldBack } = await measure(source, processes, flags, terminal);
    const { group, wasRebalanced } = outcome;
    const verdict: Verdict = judge(groupMetrics(group), demands);
    const parts = { ...runTime(), aborted: terminal.interrupt.aborted };
    const result = { ...parts, environment: describeEnvironment(), settings, group, wasRebalanced, heldBack, verdict };
    await writeResult(sink, flags, groupRunResult(result));
    terminal.stderr.write(missingSchemasNote(group.processes.flatMap(({ errors }) => errors)));
    return endOf(outcome, parts.aborted, source, verdict);
  } finally {
    await sink.close();
  }
}

async function measure(
  source: ClusterSource,
  processes: number,
  { duration }: RunFlags,
  terminal: Terminal,
): Promise<{ readonly outcome: ProcessesOutcome; readonly heldBack: readonly string[] }> {
  const observer = createObserver(terminal);
  observer.observe(() => ({ phase: openingPhase(source) }));
  const topics = await requireRegistry(source.registry)
    .then(() => openTopicSource(source, observer, terminal))
    .finally(() => observer.end());
  const groupId = throwAwayGroup();
  try {
    const { extents, heldBack } = topics;
    const { interrupt } = terminal;
    const outcome = await measureProcesses({ source, extents, processes, groupId, maxDurationMs: duration, interrupt, observer });
    return { outcome, heldBack: [...heldBack.values()] };
  } finally {
    observer.end();
    const left = await topics.forgetGroup(groupId);
    if (left !== null) {
      observer.note(left);
    }
    await topics.close();
  }
}

function endOf({ group, waitsFor }: ProcessesOutcome, aborted: boolean, { topics }: ClusterSource, verdict: Verdict): ExitCode {
  if (aborted) {
    return exitCodes.interrupted;
  }
  if (group.errorRecords > 0) {
    return exitCodes.decodeErrors;
  }
  requireWhole(topics, { unread: group.unread, waitsFor });
  if (group.records === 0) {
    throw new BenchError("too-few-messages", `${topics.join(", ")} gave no record: seed the topic.`);
  }
  return verdictExitCode(verdict);
}
