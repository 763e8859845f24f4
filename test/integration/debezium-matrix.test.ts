import type { CdcEvent, ChangeEvent, Columns } from "@cdckit/decode";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { beforeAll, describe, expect, test } from "vitest";
import { connectorState, deleteConnector, deployConnector } from "../../scripts/stack/connectors.mjs";
import { createTopics, endOffsets } from "../../scripts/stack/topics.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { type MatrixColumn, type Mode, type Phase, shown } from "./matrix-column.ts";
import { type MatrixDatabase, mariadbMatrix, type MatrixFormat, matrixFormats, postgresMatrix, type TrueRow } from "./matrix-database.ts";
import { type Found, withMariadb, withStack } from "./stack.ts";

const stack = await withStack();
const mariadb = await withMariadb();

/** Every mode with every other takes minutes; each of them once shows nearly as much. */
const isFull = process.env["CDCKIT_FULL_MATRIX"] === "1";
const connectorsAtATime = 6;

describeMatrix("PostgreSQL", "adaptive", stack, () => postgresMatrix(partOf(stack)));
describeMatrix("MariaDB", "adaptive_time_microseconds", stack.skip === false ? mariadb : stack, () =>
  mariadbMatrix(partOf(stack), partOf(mariadb)),
);

function modesOf(adaptive: string): readonly Mode[] {
  if (!isFull) {
    return [
      { time: adaptive, decimal: "precise" },
      { time: "connect", decimal: "string" },
      { time: "isostring", decimal: "double" },
    ];
  }
  // Not "nanoseconds": infinity, and every year before 1677 or after 2262, overflows 64 bits there, and is another time in the message.
  const times = [adaptive, "connect", "isostring", "microseconds"];
  return times.flatMap((time) => (["precise", "string", "double"] as const).map((decimal) => ({ time, decimal })));
}

/** Snapshot and stream of one table in every mode and format, held to SQL and to each other. */
function describeMatrix(database: string, adaptive: string, found: Found<unknown>, open: () => MatrixDatabase): void {
  const modes = modesOf(adaptive);
  const meta = { skipReason: String(found.skip) };
  describe.skipIf(found.skip !== false)(`every column type of ${database}, through Debezium`, { meta }, () => {
    let columns: readonly MatrixColumn[] = [];
    let truth: readonly TrueRow[] = [];
    let changes: (mode: Mode, format: MatrixFormat) => readonly ChangeEvent[] = () => [];

    beforeAll(async () => {
      const opened = open();
      columns = opened.columns;
      truth = await opened.fill();
      const topics = modes.flatMap((mode) => matrixFormats.map((format) => opened.topic(mode, format)));
      await createTopics(partOf(stack).brokers, topics);
      await writeAll(opened, modes, truth.length);
      const events = await consume(topics, topics.length * truth.length * 2);
      changes = (mode, format) => events.get(opened.topic(mode, format)) ?? [];
    }, 600_000);

    for (const mode of modes) {
      describe(`times ${mode.time}, decimals ${mode.decimal}`, () => {
        test.each(matrixFormats)("what %s says is what SQL says, in the snapshot and in both halves of an update", (format) => {
          const seen = changes(mode, format);
          expect(seen.map(({ op }) => op)).toEqual([...truth.map(() => "read"), ...truth.map(() => "update")]);
          for (const event of seen) {
            const row = truth[Number(event.after?.["id"]) - 1] ?? [];
            for (const half of [event.after, ...(event.op === "update" ? [event.before] : [])]) {
              expect(shownRow(half, columns)).toEqual(expectedRow(row, columns, mode, event.op === "read" ? "snapshot" : "stream"));
            }
          }
        });

        test("both formats give the same values, of the same types", () => {
          const [json, avro] = matrixFormats.map((format) =>
            changes(mode, format).map(({ before, after, key }) => ({ before, after, key })),
          );
          expect(avro).toEqual(json);
        });
      });
    }
  });
}

/** Snapshots the table with every connector, then updates its rows while they follow: a few connectors at a time. */
async function writeAll(database: MatrixDatabase, modes: readonly Mode[], rows: number): Promise<void> {
  const { connectUrl } = partOf(stack);
  const all = modes.flatMap((mode) =>
    matrixFormats.map((format) => [database.connector(mode, format), database.topic(mode, format)] as const),
  );
  for (let i = 0; i < all.length; i += connectorsAtATime) {
    const some = all.slice(i, i + connectorsAtATime);
    const names = some.map(([connector]) => connector.name);
    const topics = some.map(([, topic]) => topic);
    await Promise.all(some.map(([connector]) => deployConnector(connectUrl, connector)));
    await recordsIn(topics, names, rows);
    await database.touch();
    await recordsIn(topics, names, rows * 2);
    await Promise.all(names.map((name) => deleteConnector(connectUrl, name)));
  }
}

async function recordsIn(topics: readonly string[], connectors: readonly string[], count: number): Promise<void> {
  const { brokers, connectUrl } = partOf(stack);
  await waitUntil({
    what: `${count} records in each of ${topics.join(", ")}`,
    deadlineMs: 120_000,
    async check() {
      const states = await Promise.all(connectors.map((name) => connectorState(connectUrl, name)));
      const failed = states.find(({ state }) => state === "FAILED");
      if (failed !== undefined) throw new Error(`${failed.name} failed: ${failed.reason}`);
      return (await endOffsets(brokers, topics)).every((end) => end !== null && end >= count);
    },
  });
}

async function consume(topics: readonly string[], total: number): Promise<ReadonlyMap<string, ChangeEvent[]>> {
  const { brokers, registryUrl } = partOf(stack);
  const events = new Map<string, ChangeEvent[]>();
  const driver = kafkajs({ brokers: [brokers] });
  const groupId = `matrix-${process.pid}-${topics[0]}`;
  const consumer = createConsumer({ driver, groupId, topics, registry: { url: registryUrl }, signals: false });
  let count = 0;
  const take = (event: CdcEvent): void => {
    if (event.kind === "change") {
      const { topic } = event.record;
      events.set(topic, [...(events.get(topic) ?? []), event.detach() as ChangeEvent]);
    }
    if (++count === total) void consumer.stop();
  };
  await consumer.on("*", take).run();
  return events;
}

function shownRow(row: Columns | null, columns: readonly MatrixColumn[]): unknown {
  return row && Object.fromEntries(columns.map(({ name, show = shown }) => [name, name in row ? show(row[name]) : "(not there)"]));
}

function expectedRow(row: TrueRow, columns: readonly MatrixColumn[], mode: Mode, phase: Phase): unknown {
  return Object.fromEntries(
    columns.map(({ name, expected = String }, i) => {
      const text = row[i + 1] ?? null;
      return [name, text === null ? null : expected(text, mode, phase)];
    }),
  );
}

function partOf<Part>(found: Found<Part>): Part {
  if (found.skip !== false) throw new Error("unreachable: the suite is skipped");
  return found.part;
}
