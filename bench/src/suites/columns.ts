import { type CdcEvent, createDecoder } from "@cdckit/decode";
import { type Corpus, type CorpusName, loadCorpus } from "../corpus.ts";
import { readRow, type SalesOrderDetail } from "../sales-order-detail.ts";
import { environment } from "../environment.ts";
import { type Contender, consumedTotal, type Measured, measure, ratioOf } from "../measure.ts";
import type { Spread } from "../spread.ts";

const warmUpRounds = 3;

/** The columns that are read, of the 11 of the table and its key. */
const selected: ReadonlySet<string> = new Set(["id", "orderqty"]);

/** How many times longer decoding and reading all columns must take. Protobuf has no target. */
const targets: readonly (readonly [CorpusName, number | null])[] = [
  ["json-with-schema", 1.3],
  ["json", 1.6],
  ["confluent-avro", 1.6],
  ["confluent-protobuf", null],
];

export interface ColumnsCase {
  readonly name: CorpusName;
  readonly target: number | null;
  readonly messages: number;
  /** Time for all columns by time for two, round against round. */
  readonly ratio: Spread;
  readonly contenders: readonly [Measured, Measured];
}

interface ColumnsOptions {
  readonly rounds: number;
  readonly roundMs: number;
}

/** Decoding alone: two columns selected and read, beside all columns read, in alternating rounds. */
export async function runColumns({ rounds, roundMs }: ColumnsOptions): Promise<{ text: string; result: object }> {
  const before = environment();
  const cases = await measureColumns({ rounds, roundMs });
  const lines = cases.map(({ name, target, ratio, contenders: [all, two] }) => {
    const verdict = target === null ? "no target" : `at least ${target}x: ${ratio.median >= target ? "held" : "MISSED"}`;
    return (
      `${name}: all ${Math.round(all.medianNs)}, two ${Math.round(two.medianNs)}: ${ratio.median.toFixed(2)}x ` +
      `[${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}] (${verdict})`
    );
  });
  const setting = `${before.cpu}, ${before.cores} cores, Node ${before.node}, commit ${before.commit}, ${rounds} rounds, load ${before.loadAverage}`;
  return {
    text: ["columns, ns per message, key and value: medians", ...lines, setting].join("\n"),
    result: { environment: before, rounds, roundMs, warmUpRounds, unit: "ns per message", consumed: consumedTotal(), cases },
  };
}

export async function measureColumns({ rounds, roundMs }: ColumnsOptions): Promise<readonly ColumnsCase[]> {
  const cases: ColumnsCase[] = [];
  for (const [name, target] of targets) {
    const corpus = await loadCorpus(name);
    const contenders = [allColumns(corpus), twoColumns(corpus)];
    const [all, two] = (await measure(contenders, { rounds, roundMs, warmUpRounds })) as [Measured, Measured]; // as many as contenders
    cases.push({ name, target, messages: corpus.records.length, ratio: ratioOf(all, two), contenders: [all, two] });
  }
  return cases;
}

function allColumns({ records, schemas }: Corpus): Contender {
  const decoder = createDecoder({ schemas });
  return {
    name: "all columns",
    messages: records.length,
    pass: () => records.reduce((sum, record) => sum + read(decoder.decode(record), readRow), 0),
  };
}

function twoColumns({ records, schemas }: Corpus): Contender {
  const decoder = createDecoder({ schemas, selectColumns: () => () => selected });
  return {
    name: "two columns",
    messages: records.length,
    pass: () => records.reduce((sum, record) => sum + read(decoder.decode(record), readTwo), 0),
  };
}

function read(events: ReturnType<ReturnType<typeof createDecoder>["decode"]>, columnsOf: (row: SalesOrderDetail | null) => number): number {
  const [event] = events as readonly CdcEvent[]; // every schema is at hand
  if (event?.kind !== "change") {
    throw new Error("the corpus holds changes only");
  }
  return event.op.length + event.table.name.length + columnsOf(event.before as never) + columnsOf(event.after as never);
}

function readTwo(row: SalesOrderDetail | null): number {
  return row === null ? 0 : (row.id === 0 ? 0 : 1) + (row.orderqty === 0 ? 0 : 1);
}
