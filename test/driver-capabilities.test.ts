import { readFileSync } from "node:fs";
import { join } from "node:path";
import { confluent } from "@cdckit/confluent";
import type { CapabilityName, DriverCapabilities } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { expect, test } from "vitest";

const brokers = ["127.0.0.1:1"]; // nothing is connected
const drivers: readonly (readonly [column: string, DriverCapabilities])[] = [
  ["kafkajs", kafkajs({ brokers }).capabilities],
  ["platformatic", platformatic({ brokers }).capabilities],
  ["confluent", confluent({ brokers }).capabilities],
];

/** What each row of the matrix is called. A capability that is missing here does not compile. */
const rows: Readonly<Record<CapabilityName, string>> = {
  metadataCommit: "commits carry metadata",
  topicIds: "positions belong to a topic's id, so that a recreated topic is noticed",
  cooperative: "a rebalance takes only the partitions that move",
  awaitsRevoked: "a rebalance waits until what is in flight is handled",
  kip848: "the group protocol of KIP-848",
  leaderEpoch: "fetches are fenced by leader epoch",
  crc: "checksums of records are checked",
  offsetResetNone: "a position that is gone is an error, and never moved silently",
  reportsStart: "where a partition starts is reported",
  staticMembership: "static members (`group.instance.id`)",
  nullHeaders: "a header without a value is no empty one",
};

test("the support matrix says of each driver what its capabilities say, and why it lacks what it lacks", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/compatibility.md"), "utf8");
  expect(page).toContain(matrixOf());
});

test("every compression of Kafka is read by each driver", () => {
  for (const [, { codecs }] of drivers) {
    expect(codecs).toEqual(["none", "gzip", "snappy", "lz4", "zstd"]);
  }
});

function matrixOf(): string {
  const names = Object.keys(rows) as CapabilityName[];
  const lacking = names.flatMap((name) =>
    drivers.flatMap(([column, { reasons, [name]: has }]) => (has === true ? [] : [`- \`${column}\`, ${rows[name]}: ${reasons?.[name]}.`])),
  );
  return [
    `| | ${drivers.map(([column]) => `\`${column}\``).join(" | ")} |`,
    `|---|${"---|".repeat(drivers.length)}`,
    ...names.map((name) => `| ${rows[name]} | ${drivers.map(([, { [name]: has }]) => (has === true ? "yes" : "no")).join(" | ")} |`),
    "",
    ...lacking,
  ].join("\n");
}
