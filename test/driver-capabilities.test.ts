import { readFileSync } from "node:fs";
import { join } from "node:path";
import { confluent } from "@cdckit/confluent";
import type { CapabilityName, DriverCapabilities } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka } from "kafkajs";
import { expect, test } from "vitest";

const brokers = ["127.0.0.1:1"]; // nothing is connected

/** A driver, and what it can do otherwise with certain options. */
interface Column {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  readonly otherwise: readonly (readonly [options: string, DriverCapabilities])[];
}

const drivers: readonly Column[] = [
  {
    name: "kafkajs",
    capabilities: kafkajs({ brokers }).capabilities,
    otherwise: [["a client of your own", kafkajs({ kafka: new Kafka({ brokers }) }).capabilities]],
  },
  {
    name: "platformatic",
    capabilities: platformatic({ brokers }).capabilities,
    otherwise: [['`groupProtocol: "consumer"`', platformatic({ brokers, groupProtocol: "consumer" }).capabilities]],
  },
  {
    name: "confluent",
    capabilities: confluent({ brokers }).capabilities,
    otherwise: [['`groupProtocol: "consumer"`', confluent({ brokers, groupProtocol: "consumer" }).capabilities]],
  },
];

/** What each row of the matrix is called. A capability that is missing here does not compile. */
const rows: Readonly<Record<CapabilityName, string>> = {
  metadataCommit: "commits carry metadata",
  topicIds: "commits belong to a topic's id, so that a recreated topic is noticed",
  cooperative: "a rebalance takes only the partitions that move",
  awaitsRevoked: "a rebalance waits until what is in flight is handled",
  kip848: "the group protocol of KIP-848",
  leaderEpoch: "fetches are fenced by leader epoch",
  crc: "checksums of records are checked",
  offsetResetNone: "an offset that is gone is an error, and never moved silently",
  reportsStart: "where a partition starts is reported",
  staticMembership: "static members (`group.instance.id`)",
  nullHeaders: "a header without a value is no empty one",
};

test("the support matrix says of each driver what its capabilities say, and why it lacks what it lacks", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/compatibility.md"), "utf8");
  expect(page).toContain(matrixOf());
});

test("every compression of Kafka is read by each driver", () => {
  for (const { capabilities } of drivers) {
    expect(capabilities.codecs).toEqual(["none", "gzip", "snappy", "lz4", "zstd"]);
  }
});

/** No capability of a driver: it depends on whether the client has a native part. */
const workers = "worker threads (`workers: N`)";

function matrixOf(): string {
  const names = Object.keys(rows) as CapabilityName[];
  const lacking = names.flatMap((row) =>
    drivers.flatMap((column) =>
      cellOf(column, row) === "no" ? [`- \`${column.name}\`, ${rows[row]}: ${column.capabilities.reasons?.[row]}.`] : [],
    ),
  );
  return [
    `| | ${drivers.map(({ name }) => `\`${name}\``).join(" | ")} |`,
    `|---|${"---|".repeat(drivers.length)}`,
    ...names.map((row) => `| ${rows[row]} | ${drivers.map((column) => cellOf(column, row)).join(" | ")} |`),
    `| ${workers} | yes | yes | no |`,
    "",
    ...lacking,
    `- \`confluent\`, ${workers}: the native part of the client does not load in a worker thread.`,
  ].join("\n");
}

function cellOf({ capabilities, otherwise }: Column, row: CapabilityName): string {
  const has = capabilities[row];
  const differing = otherwise.filter(([, { [row]: hasOtherwise }]) => hasOtherwise !== has).map(([options]) => options);
  if (differing.length === 0) {
    return has ? "yes" : "no";
  }
  return `yes${has ? "; not" : ","} with ${differing.join(" or ")}`;
}
