import { type RunningKafka, runKafkaTool } from "../../scripts/stack/kafka.mjs";

/** A commit of a group, as its coordinator keeps it. */
export interface GroupCommit {
  readonly partition: number;
  readonly offset: bigint;
}

/**
 * Every commit of a group for a topic, in the order in which the coordinator took them: none is missed, as between two looks at the group.
 * Kafka's own tool reads them from the log of the coordinator: not a client that could share our mistakes. Commits of transactions that were
 * aborted are left out. It ends when nothing came for `idleMs`.
 */
export async function readGroupCommits(
  kafka: RunningKafka,
  group: string,
  topic: string,
  { idleMs, deadlineMs }: { readonly idleMs: number; readonly deadlineMs: number },
): Promise<readonly GroupCommit[]> {
  const args = ["--bootstrap-server", kafka.brokers, "--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", String(idleMs)];
  // Its own commits would come to the topic that it reads, and it would never be at the end.
  const passive = ["--command-property", "enable.auto.commit=false"];
  const formatter = ["--isolation-level", "read_committed", "--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"];
  const tool = "org.apache.kafka.tools.consumer.ConsoleConsumer";
  const { stdout } = await runKafkaTool(kafka, tool, [...args, ...passive, ...formatter], { deadlineMs });
  return commitsIn(stdout, group, topic);
}

/**
 * Commits in the formatter's output: JSON documents without anything between them. Texts in them have their quotes escaped, so that none holds
 * the beginning of a document. A commit that was deleted has no value. After
 * the last one, the tool logs that nothing more came.
 */
export function commitsIn(output: string, group: string, topic: string): readonly GroupCommit[] {
  return output
    .split(/(?=\{"key":\{)/)
    .filter((document) => document.startsWith("{"))
    .flatMap((document) => {
      // The formatter of the Kafka release that the stack pins writes this shape.
      const { key, value } = JSON.parse(document.slice(0, document.lastIndexOf("}") + 1)) as {
        readonly key: { readonly data: { readonly group: string; readonly topic: string; readonly partition: number } };
        readonly value: { readonly data: { readonly offset: number } } | null;
      };
      const isOurs = key.data.group === group && key.data.topic === topic && value !== null;
      return isOurs ? [{ partition: key.data.partition, offset: BigInt(value.data.offset) }] : [];
    });
}

/** What is wrong with a group's commits, in the order in which they were taken: a sentence for each partition that went back. */
export function commitsThatWentBack(commits: readonly GroupCommit[]): readonly string[] {
  const reached = new Map<number, bigint>();
  const back = new Map<number, string[]>();
  for (const { partition, offset } of commits) {
    const before = reached.get(partition) ?? -1n;
    if (offset < before) {
      back.set(partition, [...(back.get(partition) ?? []), `from ${before} to ${offset}`]);
    }
    reached.set(partition, offset);
  }
  return [...back].map(([partition, steps]) => {
    const first = steps.slice(0, 3).join(", ");
    return `the group's commit of ${partition} went back ${steps.length} times in its coordinator's log: ${first}`;
  });
}

/** Where the last commits left each partition. */
export function lastCommits(commits: readonly GroupCommit[]): ReadonlyMap<number, bigint> {
  return new Map(commits.map(({ partition, offset }) => [partition, offset]));
}
