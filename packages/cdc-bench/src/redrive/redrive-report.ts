import { formatCount } from "../report/quantities.ts";
import type { RefusalReason } from "./redrive-plan.ts";
import type { RedriveTally } from "./redrive-tally.ts";

export interface RedriveReport {
  readonly aborted: boolean;
  /** What ended it before its end; null if nothing did. What the tally counts was written and committed before. */
  readonly failure: Error | null;
  readonly dryRun: boolean;
  readonly deadLetterTopic: string;
  readonly groupId: string;
  /** Null: each record goes where it came from. */
  readonly to: string | null;
  readonly tally: RedriveTally;
}

const reasonTexts: Readonly<Record<RefusalReason, string>> = {
  "redriven-too-often": "it was redriven as often as --max-redrives allows, and came back",
  "own-topic": "it would go to the topic that it is read from: give --to TOPIC",
  "topic-missing": "its topic does not exist: make it, or give --to TOPIC",
  "partition-missing":
    "its topic has fewer partitions by now: add them, or give --to TOPIC, which may be the same, and its key chooses the partition",
  "behind-a-refused-one": "an earlier dead letter of its key was refused",
};

const maxShownRefusals = 10;

/** The progress line while it runs. */
export function redrivePhase({ deadLetterTopic, dryRun, tally }: Pick<RedriveReport, "deadLetterTopic" | "dryRun" | "tally">): string {
  return `${dryRun ? "reading" : "redriving"} ${deadLetterTopic}: ${formatCount(tally.redriven)} ${dryRun ? "would be redriven" : "written"}`;
}

/** What a redrive has changed, in one sentence. */
export function doneText({ deadLetterTopic, groupId, tally }: Pick<RedriveReport, "deadLetterTopic" | "groupId" | "tally">): string {
  return `Of ${deadLetterTopic}, ${formatCount(tally.redriven)} records were redriven. Group ${groupId} keeps the progress.`;
}

export function redriveText(report: RedriveReport): string {
  const { tally, deadLetterTopic, groupId, dryRun } = report;
  const done = dryRun ? "would be redriven" : "redriven";
  const topics = [...tally.redrivenByTopic].map(([topic, count]) => `  ${formatCount(count)} to ${topic}\n`);
  return [
    `${deadLetterTopic}: ${formatCount(tally.redriven)} of ${formatCount(tally.records)} records ${done}\n`,
    ...topics,
    tally.gone > 0 ? `  ${formatCount(tally.gone)} offsets are gone: retention took them before they were redriven\n` : "",
    tally.unseen > 0
      ? `  ${formatCount(tally.unseen)} offsets gave nothing: markers of transactions, or records that did not come; the same command looks again\n`
      : "",
    tally.notSelected > 0 ? `  ${formatCount(tally.notSelected)} not selected by --filter\n` : "",
    tally.notDeadLetters > 0 ? `  ${formatCount(tally.notDeadLetters)} without the headers of a dead letter: left\n` : "",
    tally.refused > 0 ? refusedText(report) : "",
    dryRun ? "nothing was written, nothing committed\n" : `progress is kept by group ${groupId}\n`,
    earlyEndText(report),
  ].join("");
}

function earlyEndText({ aborted, failure, dryRun }: RedriveReport): string {
  if (!aborted && failure === null) {
    return "";
  }
  return `${aborted ? "interrupted" : "failed"}: the same command ${dryRun ? "begins again" : "goes on from here"}\n`;
}

function refusedText({ tally, deadLetterTopic }: RedriveReport): string {
  const shown = tally.refusals.slice(0, maxShownRefusals);
  const lines = shown.map(({ partition, offset, reason }) => `    ${deadLetterTopic}[${partition}]@${offset}: ${reasonTexts[reason]}\n`);
  const rest = tally.refused - shown.length;
  return `  ${formatCount(tally.refused)} refused and left:\n${lines.join("")}${rest > 0 ? `    and ${formatCount(rest)} more\n` : ""}`;
}

export function redriveJson(report: RedriveReport): Readonly<Record<string, unknown>> {
  const { aborted, failure, dryRun, deadLetterTopic, groupId, to, tally } = report;
  return {
    schemaVersion: 1,
    command: "redrive",
    aborted: aborted || failure !== null,
    dryRun,
    deadLetterTopic,
    groupId,
    to,
    records: tally.records,
    redriven: tally.redriven,
    topics: [...tally.redrivenByTopic].map(([topic, redriven]) => ({ topic, redriven })),
    notSelected: tally.notSelected,
    notDeadLetters: tally.notDeadLetters,
    gone: tally.gone,
    unseen: tally.unseen,
    refused: tally.refused,
    refusals: tally.refusals,
  };
}
