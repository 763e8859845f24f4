import type { CapabilityName, Compression, DriverSession, FetchedBatch, KafkaDriver, Subscription } from "@cdckit/consumer";
import { silentLogger } from "@cdckit/consumer";
import type { RecordHeaders } from "@cdckit/decode";
import { ProbeSink } from "./probe-sink.ts";

/** The part of a test framework that the contract needs: vitest's and jest's own functions fit. */
export interface TestFramework {
  /** Groups tests under a name. */
  readonly describe: (name: string, body: () => void) => void;
  /** Declares a test, and `test.skip` one that is not run. */
  readonly test: ((name: string, body: () => Promise<void>) => void) & { readonly skip: (name: string, body: () => Promise<void>) => void };
  /** Compares by value: `toEqual` throws if the two differ. */
  readonly expect: (actual: unknown) => { toEqual(expected: unknown): void };
}

/** A record for a partition that the test chooses. */
export interface PlacedRecord {
  /** The key: bytes, or text that is written as UTF-8. Without it, the record has none. */
  readonly key?: Uint8Array | string | null;
  /** Null is a tombstone; an empty string or array is an empty value. */
  readonly value: Uint8Array | string | null;
  /** The headers in their order. Without it, the record has none. */
  readonly headers?: RecordHeaders;
  /** Milliseconds since the epoch; the harness chooses if it is left out. */
  readonly timestamp?: bigint;
  /** The number of the partition, from 0. */
  readonly partition: number;
}

/** A broker that a driver can be tried on. */
export interface DriverHarness {
  /** A new client of the broker each time. Heartbeats should be fast: rebalances wait for them; metadata should be young: growth is seen by it. */
  driver(member?: MemberOptions): KafkaDriver;
  /** The session timeout of those clients. */
  readonly sessionTimeoutMs: number;
  /**
   * Resolves when the topic can be written and read. If a compression is named, it is the one in which the log has the records: a real broker has
   * `compression.type` for it, by topic.
   */
  createTopic(name: string, partitions: number, compression?: Compression): Promise<void>;
  /** Resolves when the records are acknowledged. */
  produce(topic: string, records: readonly PlacedRecord[]): Promise<void>;
  /** The same in a transaction of its own, that is committed or aborted. */
  produceInTransaction(topic: string, records: readonly PlacedRecord[], end: "commit" | "abort"): Promise<void>;
  /** Writes the records in a transaction of its own that stays open. Resolves when they are acknowledged, with what ends the transaction. */
  openTransaction(topic: string, records: readonly PlacedRecord[]): Promise<(end: "commit" | "abort") => Promise<void>>;
  /** As retention does: everything before the offset goes. */
  deleteBefore(topic: string, partition: number, offset: bigint): Promise<void>;
  /** Resolves when the topic is gone. */
  deleteTopic(topic: string): Promise<void>;
  /** Makes the topic longer: `partitions` in all. */
  addPartitions(topic: string, partitions: number): Promise<void>;
  /** What the group has committed, or null. */
  committed(groupId: string, topic: string, partition: number): Promise<bigint | null>;
  /** A name for a topic or a group that nobody else uses. */
  uniqueName(prefix: string): string;
}

/** What a test asks of a client for itself. */
export interface MemberOptions {
  /** `group.instance.id`. Asked for of drivers with the capability `staticMembership` alone. */
  readonly groupInstanceId?: string;
}

/** The options of `testDriverContract`. */
export interface DriverContractOptions {
  /** Starts the driver, and writes to its topics. */
  readonly harness: DriverHarness;
  /** Tests that this driver cannot pass although its capabilities promise it, by name, each with its reason. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** One sentence of the contract. */
export type Trial = (harness: DriverHarness, framework: TestFramework) => Promise<void>;

/** A sentence that holds for clients with a capability alone. */
export interface TrialOf {
  readonly needs: CapabilityName;
  /** A capability with which it does not hold, and why. */
  readonly except?: { readonly capability: CapabilityName; readonly reason: string };
  readonly trial: Trial;
}

/** A member of a group, and what it was told. */
export interface Joined {
  readonly sink: ProbeSink;
  readonly session: DriverSession;
}

/** Connects a probe. */
export async function join(
  harness: DriverHarness,
  { groupInstanceId, ...change }: Partial<Subscription> & MemberOptions,
  prepare?: (sink: ProbeSink) => void,
): Promise<Joined> {
  const driver = harness.driver(groupInstanceId === undefined ? {} : { groupInstanceId });
  const sink = new ProbeSink();
  prepare?.(sink);
  const groupId = change.groupId ?? harness.uniqueName("group");
  const session = await driver.connect({ from: "earliest", topics: [], logger: silentLogger, ...change, groupId }, sink);
  return { sink, session };
}

/** Makes a topic that nobody else uses. */
export async function topicOf(harness: DriverHarness, partitions: number): Promise<string> {
  const topic = harness.uniqueName("contract");
  await harness.createTopic(topic, partitions);
  return topic;
}

/** So many records for a partition. */
export function lines(partition: number, count: number): PlacedRecord[] {
  return Array.from({ length: count }, (_, i) => ({ partition, value: `line ${i}` }));
}

/** The handle of the first record of the first batch. */
export function firstRecord(sink: ProbeSink): number {
  const walk = sink.batches[0]?.walk();
  return walk?.next() === true ? walk.record : -1;
}

/** The offset at which a batch starts, or null if it has no record. */
export function firstOffset(batch: FetchedBatch): bigint | null {
  const walk = batch.walk();
  return walk.next() ? batch.offsetAt(walk.record) : null;
}

/** Bytes as text; null stays null. */
export function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString();
}

/** A promise that the test resolves. */
export function latch(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Time for a driver to do what it must not do; a correct one passes however long this is. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
