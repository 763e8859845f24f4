import { sentenceOf } from "../../bench-error.ts";
import { formatCount } from "../../report/quantities.ts";
import { compressionMessages } from "./defaults.ts";
import { formatLabels } from "./formats.ts";
import type { FormatSnapshot } from "./result.ts";
import type { SnapshotRun } from "./run-snapshot.ts";

/** How it was measured, for the foot of the report. */
export const snapshotRules: readonly string[] = [
  "Connectors run one after the other over the same rows, in another order each round; each has topics, slot and group of its own, which are deleted after it.",
  "Total time is from the request to Kafka Connect to the last message consumed: start, snapshot, then consumption of the whole topic. Times are medians of the rounds.",
  "The connector's rate is from its first to its last message by their timestamps; the consumer's is that of reading the complete topic, without joining the group.",
  "Latency is of rows inserted at a set rate after the snapshot, from the moment at which each was due (no coordinated omission). The age of a backlog is told apart: it measures the backlog.",
  "Size is key and value without headers; MB is 10^6 bytes. Compression: the first records are written again, in batches of the connector's size, into topics that the broker compresses, and its log is measured.",
  "Useful is what Avro needs for the same events without naming its schema. Processor time is of processes on this machine, by /proc, with their children.",
];

/** What to know about these figures. */
export function snapshotNotes(
  run: SnapshotRun,
  formats: readonly FormatSnapshot[],
  settings: { readonly rounds: number; readonly tailMs: number; readonly compressionMessages: number },
): readonly string[] {
  const notes = [...run.notes];
  if (run.failure !== null) {
    notes.push(`The run ended early: ${sentenceOf(run.failure.message)}`);
  }
  if (run.tableRows === null) {
    notes.push(
      "The database was not asked (--database): a snapshot counts as complete after 5 s without a message, and no rows are added for latencies.",
    );
  } else if (formats.length > 0 && settings.tailMs > 0 && formats.every(({ tail }) => tail === null)) {
    notes.push("No latency: rows are added only to tables that snapshot or create-table has made.");
  }
  for (const { label, messages, tail, consumer } of formats) {
    if (run.tableRows !== null && messages !== run.tableRows) {
      notes.push(
        `${label} has ${formatCount(messages)} messages for ${formatCount(run.tableRows)} rows: the table changed, or the connector wrote some twice.`,
      );
    }
    if (tail !== null && tail.missingRows > 0) {
      notes.push(`${label}: ${formatCount(tail.missingRows)} of ${formatCount(tail.rows)} added rows did not come in time.`);
    }
    if (consumer.elapsedMs < 1_000) {
      notes.push(
        `${label} was consumed in ${Math.round(consumer.elapsedMs)} ms: a rate over less than a second says little. Take more rows.`,
      );
    }
  }
  const noisy = formats.filter(({ consumer }) => consumer.maxMessagesPerSecond > consumer.minMessagesPerSecond * 1.25);
  if (noisy.length > 0) {
    notes.push(
      `The consumer's rounds lie more than 25% apart for ${noisy.map(({ format }) => formatLabels[format]).join(", ")}: is the machine busy?`,
    );
  }
  if (settings.rounds < 3) {
    notes.push(`${settings.rounds} round${settings.rounds === 1 ? "" : "s"}: too few to tell a difference from chance.`);
  }
  if (settings.compressionMessages < compressionMessages) {
    notes.push(`Compression was measured on ${formatCount(settings.compressionMessages)} records.`);
  }
  return notes;
}
