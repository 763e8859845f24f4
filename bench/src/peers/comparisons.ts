import type { PeerFormat } from "./pass.ts";
import { javaPerformance, kafkajsByHand, ourKafkaJs, type Side } from "./sides.ts";
import type { FilledTopic, PeerCompression } from "./topics.ts";

type Targets = Readonly<Record<PeerFormat, number>>;

type SideChoice = (side: Pick<Side, "name" | "kind">) => boolean;

/** Ours beside others on the same topic: a row of the table for each compression, with the fastest of each. */
export interface Comparison {
  readonly name: string;
  readonly isLong: boolean;
  readonly ours: SideChoice;
  readonly theirs: SideChoice;
  /** How many times as fast we want to be. A compression that is not named has no target. */
  readonly wanted: Readonly<Partial<Record<PeerCompression, Targets>>>;
}

const byHandCompressed: Targets = { "json-with-schema": 3, json: 2, "confluent-avro": 3 };

// These ratios are wanted of 200,000 messages and of more, so topics of both lengths are held to them.
const againstByHand: Omit<Comparison, "isLong"> = {
  name: `kafkajs driver against ${kafkajsByHand}`,
  ours: only(ourKafkaJs),
  theirs: only(kafkajsByHand),
  wanted: { none: { "json-with-schema": 4, json: 2.3, "confluent-avro": 4 }, lz4: byHandCompressed, zstd: byHandCompressed },
};
const againstJava: Omit<Comparison, "isLong"> = {
  name: `kafkajs driver against ${javaPerformance}, undecoded`,
  ours: only(ourKafkaJs),
  theirs: only(javaPerformance),
  wanted: { none: { "json-with-schema": 1.3, json: 1.2, "confluent-avro": 1.2 } },
};

/** In the order of the table. */
export const comparisons: readonly Comparison[] = [
  { ...againstByHand, isLong: false },
  {
    name: "fastest of our drivers against the fastest peer in Node",
    isLong: false,
    ours: ofKind("ours"),
    theirs: ofKind("peer"),
    wanted: { none: { "json-with-schema": 3, json: 2, "confluent-avro": 3 } },
  },
  { ...againstJava, isLong: false },
  {
    name: "fastest of our drivers against kcat, undecoded",
    isLong: false,
    ours: ofKind("ours"),
    theirs: only("kcat"),
    wanted: {},
  },
  { ...againstByHand, isLong: true },
  { ...againstJava, isLong: true },
];

/** Whether a figure that is wanted is made of what the side does with the topic. */
export function isOfWantedFigure({ compression, isLong }: Pick<FilledTopic, "compression" | "isLong">, side: Side): boolean {
  return comparisons.some((one) => one.isLong === isLong && one.wanted[compression] !== undefined && (one.ours(side) || one.theirs(side)));
}

function only(name: string): SideChoice {
  return (side) => side.name === name;
}

function ofKind(kind: Side["kind"]): SideChoice {
  return (side) => side.kind === kind;
}
