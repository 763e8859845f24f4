import { createRequire } from "node:module";
import { type PartitionAssignment, silentLogger, type Subscription } from "@cdckit/consumer";
import { placeOf, type Position } from "@cdckit/driver";
import { ProbeSink } from "@cdckit/testkit";
import type { Consumer, EachBatchPayload } from "kafkajs";
import { expect, onTestFinished, test } from "vitest";
import type { KafkaJsOffsets } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { driverClosed } from "./errors.ts";
import { loginOf } from "./login.ts";
import { resolveKafkaJsOptions } from "./options.ts";
import type { OwnProducer } from "./own-producer.ts";
import { KafkaJsSession } from "./session.ts";
import { AskedTopics } from "./asked-topics.ts";
import { KeptFetches } from "./wire/kept-fetches.ts";

const load = createRequire(import.meta.url);
interface Encoded {
  readonly buffer: Buffer;
}
const { RecordBatch } = load("kafkajs/src/protocol/recordBatch/v0") as { readonly RecordBatch: (parts: object) => Promise<Encoded> };
const toRecord = load("kafkajs/src/protocol/recordBatch/record/v0") as (parts: object) => Encoded;

type Places = readonly { readonly topic: string; readonly partitions: readonly number[] }[];

/** kafkajs as far as a session uses it. Like kafkajs, it throws at a pause, a resume or a seek while it has no group. */
class PretendedKafkaJs {
  readonly events = {
    REQUEST: "request",
    HEARTBEAT: "heartbeat",
    GROUP_JOIN: "group join",
    REBALANCING: "rebalancing",
    STOP: "stop",
    CRASH: "crash",
    FETCH_START: "fetch start",
    FETCH: "fetch",
  };
  readonly paused = new Set<string>();
  hasGroup = false;
  beats = 0;
  readonly #kept: KeptFetches;
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = () => Promise.resolve();
  readonly #listeners = new Map<string, ((event: object) => void)[]>();

  constructor(kept: KeptFetches) {
    this.#kept = kept;
  }

  on(event: string, listener: (event: object) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  subscribe(): Promise<void> {
    return Promise.resolve();
  }

  async run({ eachBatch }: { readonly eachBatch: (payload: EachBatchPayload) => Promise<void> }): Promise<void> {
    this.#eachBatch = eachBatch;
    this.hasGroup = true;
  }

  /** As kafkajs stops for itself when it crashes: its crash is told only when its connections are closed. */
  async stop(): Promise<void> {
    this.hasGroup = false;
    this.tell("stop");
  }

  disconnect(): Promise<void> {
    return this.hasGroup ? this.stop() : Promise.resolve();
  }

  pause(places: Places): void {
    this.#requireGroup();
    namesOf(places).forEach((name) => this.paused.add(name));
  }

  resume(places: Places): void {
    this.#requireGroup();
    namesOf(places).forEach((name) => this.paused.delete(name));
  }

  seek(): void {
    this.#requireGroup();
  }

  tell(event: string, payload: object = {}): void {
    this.#listeners.get(event)?.forEach((listener) => listener({ payload }));
  }

  /** Fetches one record, and hands over what stands for it. */
  async fetch(partition: number, offset: number): Promise<void> {
    const place = { topic: "t", partition, fromOffset: BigInt(offset), nextOffset: BigInt(offset) + 1n, highWatermark: 100n };
    const { buffer } = await RecordBatch({ firstOffset: offset, records: [toRecord({ value: Buffer.from("v") })] });
    const standIn = this.#kept.keep("b:9092", { ...place, abortedTransactions: [], bytes: buffer, unpackedTo: () => {} }, 11);
    const message = { key: standIn.subarray(66, 82), value: standIn.subarray(83, 91) };
    const batch = { topic: "t", partition, messages: [message] };
    const payload = { batch, isStale: () => false, resolveOffset: () => {}, heartbeat: async () => void this.beats++ };
    return this.#eachBatch(payload as unknown as EachBatchPayload); // as much as is asked
  }

  #requireGroup(): void {
    if (!this.hasGroup) {
      throw new Error("Consumer group was not initialized, consumer#run must be called first");
    }
  }
}

function namesOf(places: Places): readonly string[] {
  return places.flatMap(({ topic, partitions }) => partitions.map((partition) => `${topic}[${partition}]`));
}

/** A session that has two partitions, each of which begins at 0. `producers`: the transactional ids of those that are connected. */
async function setUp({ topics = ["t"], logger = silentLogger }: Partial<Pick<Subscription, "topics" | "logger">> = {}) {
  const producers = new Set<string | undefined>();
  const low = { value: 0n, known: Promise.resolve() };
  const kept = new KeptFetches();
  const kafka = new PretendedKafkaJs(kept);
  const sink = new ProbeSink();
  const committed: string[] = [];
  const positions = new Map<string, Position>();
  const ends = async (): Promise<object> => {
    await low.known;
    return new Map(Array.from({ length: 12 }, (_, partition) => [placeOf("t", partition), { low: low.value, high: 100n }]));
  };
  const brokerOffsets = {
    topicIds: async () => new Map(),
    committed: async () => new Map(positions),
    topics: async () => ["t", "t2"],
    ends,
    close: async () => {},
  } as unknown as BrokerOffsets; // as much as is asked
  const { tuning } = resolveKafkaJsOptions({ brokers: ["b:9092"], maxWaitMs: 5, metadataMaxAgeMs: 5, heartbeatIntervalMs: 5 });
  const givenUp = new AbortController();
  const session = new KafkaJsSession({
    consumer: kafka as unknown as Consumer,
    subscription: { groupId: "g", topics, from: "earliest", logger } as Subscription,
    topics: ["t"],
    sink,
    askedTopics: new AskedTopics(),
    brokerOffsets,
    makeProducer: ({ transactionalId }) => {
      const transaction = {
        sendOffsets: async ({ topics: [of] }: KafkaJsOffsets) =>
          of?.partitions.forEach(({ partition, offset }) =>
            positions.set(placeOf("t", partition), { offset: BigInt(offset), topicId: null }),
          ),
        commit: async () => {},
        abort: async () => {},
      };
      const producer = {
        connect: async () => void producers.add(transactionalId),
        transaction: async () => transaction,
        disconnect: async () => void producers.delete(transactionalId),
      };
      return { producer, destroySockets: () => {} } as unknown as OwnProducer; // as much as is called
    },
    tuning,
    brokers: "b:9092",
    kept,
    givenUp: givenUp.signal,
    reconnect: () => {},
    endFetches: () => {},
    destroySockets: () => {},
  });
  session.useGeneration(async ({ topics: offsets }: KafkaJsOffsets) => {
    for (const { partition, offset } of offsets.flatMap(({ partitions }) => partitions)) {
      committed.push(`${partition}: ${offset}`);
      positions.set(placeOf("t", partition), { offset: BigInt(offset), topicId: null });
    }
  });
  await session.run();
  kafka.tell("group join", { memberAssignment: { t: [0, 1] } });
  await sink.until(() => sink.starts.length === 2);
  return { kafka, sink, session, committed, positions, low, producers, giveUp: () => givenUp.abort() };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("the same crash is logged with growing gaps until the group is joined again: a deleted topic makes kafkajs crash three times a second", async () => {
  const warnings: string[] = [];
  const { kafka } = await setUp({ logger: { ...silentLogger, warn: (fields) => warnings.push((fields["err"] as Error).message) } });
  const crash = (message: string): void => kafka.tell("crash", { error: new Error(message), restart: true });

  crash("no such topic");
  crash("no such topic");
  crash("no answer");
  crash("no such topic");
  kafka.tell("group join", { memberAssignment: { t: [0, 1] } });
  crash("no such topic");

  expect(warnings.map((warning) => warning.replace(/^.*gave up: /, ""))).toEqual(["no such topic", "no answer", "no such topic"]);
});

test("a certificate that is refused ends the session although kafkajs would try again: it would show and trust the same ones for ever", async () => {
  const { kafka, sink, session } = await setUp();
  const error = Object.assign(new Error("Connection error: certificate has expired"), {
    name: "KafkaJSConnectionError",
    code: "CERT_HAS_EXPIRED",
  });
  kafka.tell("crash", { error, restart: true });
  expect([session.isOver, sink.failures]).toMatchObject([true, [{ code: "authentication-failed" }]]);
});

test("a function for a token that fails is a wait, although its error has the code of a login that is refused: the function is called again", async () => {
  const { kafka, sink, session } = await setUp();
  const { oauthBearerProvider } = loginOf({
    mechanism: "oauthbearer",
    oauthBearerProvider: () => Promise.reject(new TypeError("the server of the tokens is away")),
  }) as { readonly oauthBearerProvider: () => Promise<unknown> };
  const error: unknown = await oauthBearerProvider().catch((failure: unknown) => failure);
  kafka.tell("crash", { error, restart: true });
  expect([session.isOver, sink.failures]).toEqual([false, []]);
  expect([...sink.waits]).toMatchObject([{ causes: [{ code: "authentication-failed" }] }]);
});

test("a member that has lost a partition ends its producer, though it never writes again", async () => {
  const { kafka, sink, session, producers } = await setUp();
  const [assignment] = sink.held as [PartitionAssignment];
  await session.transact([], [{ assignment, offset: 1n }]);
  expect([...producers]).toEqual(["g.t.0"]);
  kafka.tell("group join", { memberAssignment: { t: [1] } });
  await expect.poll(() => [...producers]).toEqual([]);
  await session.close(1_000);
});

test("a member that is fenced joins once, and waits until then: a partition that is fenced while it is given up for a join needs no other", async () => {
  const { kafka, sink, session, positions } = await setUp();
  positions.set(placeOf("t", 0), { offset: 9n, topicId: null });
  const [assignment] = sink.held as [PartitionAssignment];
  const transact = () => session.transact([], [{ assignment, offset: 1n }]);
  await expect(transact()).rejects.toMatchObject({ code: "fenced" });
  await expect(session.beforeFetch()).rejects.toThrow("another producer writes for a partition");
  await expect(transact()).rejects.toMatchObject({ code: "fenced" });
  kafka.tell("group join", { memberAssignment: { t: [0, 1] } });
  await session.beforeFetch();
  await sink.until(({ starts }) => starts.length === 4);
  expect([...sink.waits]).toMatchObject([
    { what: "a transaction", host: "b:9092", place: "t[0]", causes: [{ code: "fenced" }, { code: "fenced" }] },
  ]);
  await session.transact([], [{ assignment: sink.held.find(({ partition }) => partition === 0) as PartitionAssignment, offset: 10n }]);
  expect([...sink.waits]).toEqual([]);
  await session.close(1_000);
});

test("a start that is given up is no lost connection: nothing is waited for or logged, and kafkajs need not join again", async () => {
  const warnings: string[] = [];
  const { kafka, sink, session, giveUp } = await setUp({ logger: { ...silentLogger, warn: (_fields, message) => warnings.push(message) } });

  giveUp();
  kafka.tell("crash", { error: new Error(driverClosed), restart: true });

  expect({ isOver: session.isOver, warnings, waits: [...sink.waits], failures: sink.failures }).toEqual({
    isOver: true,
    warnings: [],
    waits: [],
    failures: [],
  });
});

test("what is waited for after a crash is the connection until kafkajs asks its coordinator to join, and the group after that", async () => {
  const { kafka, sink, session } = await setUp();
  const waits = () => [...sink.waits].map(({ what, causes }) => [what, causes.length]);
  const crash = (): void => {
    const error = Object.assign(new Error("connect ECONNREFUSED"), { name: "KafkaJSConnectionError" });
    kafka.tell("crash", { error, restart: true });
  };
  const [ofConnection, ofGroup] = ["the connection to the brokers", "the group g"];
  crash();
  crash();
  expect(waits()).toEqual([[ofConnection, 2]]);
  await session.beforeJoin({ groupId: "g", memberId: "" });
  expect(waits()).toEqual([[ofGroup, 0]]);
  crash();
  expect(waits()).toEqual([[ofConnection, 1]]);
  await session.beforeJoin({ groupId: "g", memberId: "" });
  kafka.tell("group join", { memberAssignment: { t: [0, 1] } });
  await sink.until(() => sink.starts.length === 4);
  expect(waits()).toEqual([]);
  await session.beforeJoin({ groupId: "g", memberId: "m" });
  expect(waits()).toEqual([]);
  await session.close(1_000);
});

test("a handler that ends after kafkajs has stopped by itself, and before it tells its crash, starts nothing and breaks nothing", async () => {
  const { kafka, sink, session } = await setUp();
  let finish = (): void => {};
  sink.onBatch = () => new Promise((resolve) => (finish = resolve));
  await kafka.fetch(0, 0);
  await kafka.fetch(0, 1); // waits for the first
  const [held] = sink.held as [PartitionAssignment];
  await kafka.stop();
  expect(sink.revocations.map(({ how }) => how)).toEqual(["lost"]);
  finish();
  await turns();
  session.pause([held]);
  session.resume([held]);
  expect(sink.records.length).toBe(1);
  expect(sink.failures).toEqual([]);
  await session.close(1_000);
});

test("a session that fails while kafkajs takes no orders tells it nevertheless", async () => {
  const { kafka, sink, session, low } = await setUp();
  low.value = 5n;
  kafka.hasGroup = false; // and has not said so yet
  await kafka.fetch(0, 5).catch(() => {});
  expect(sink.failures.map(({ message }) => message.slice(0, 21))).toEqual(["[offset-out-of-range]"]);
  await session.close(1_000);
});

test("while brokers do not say why a batch begins elsewhere, heartbeats keep the member in its group", async () => {
  const { kafka, sink, session, low } = await setUp();
  let answer = (): void => {};
  low.known = new Promise((resolve) => (answer = resolve));
  const fetched = kafka.fetch(0, 5);
  await expect.poll(() => kafka.beats).toBeGreaterThan(2);
  answer();
  await fetched;
  expect([sink.failures, sink.records]).toEqual([[], []]);
  await session.close(1_000);
});

test("any number of partitions may wait for the brokers at a time, and Node does not warn of them", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { kafka, sink, session, low } = await setUp();
  const partitions = Array.from({ length: 12 }, (_, partition) => partition);
  kafka.tell("group join", { memberAssignment: { t: partitions } });
  await sink.until(() => sink.starts.length === 14);
  let answer = (): void => {};
  low.known = new Promise((resolve) => (answer = resolve));
  const fetched = Promise.all(partitions.map((partition) => kafka.fetch(partition, 5)));
  await expect.poll(() => kafka.beats).toBeGreaterThan(0);
  answer();
  await fetched;
  expect(warnings).toEqual([]);
  await session.close(1_000);
});

test("a session that has failed fetches nothing more, whatever is resumed or joined, and leaves the group where it is", async () => {
  const { kafka, sink, session, committed, low } = await setUp();
  await kafka.fetch(1, 0);
  expect([...kafka.paused]).toEqual([]);
  await session.commit(sink.held.map((assignment) => ({ assignment, offset: 1n })));
  low.value = 5n;
  await kafka.fetch(0, 5);
  expect(sink.failures.length).toBe(1);
  session.resume(sink.held);
  expect([...kafka.paused].sort()).toEqual(["t[0]", "t[1]"]);
  kafka.paused.clear();
  kafka.tell("group join", { memberAssignment: { t: [0, 2] } });
  expect([...kafka.paused].sort()).toEqual(["t[0]", "t[2]"]);
  session.outOfRange({ topic: "t", partition: 1 });
  await turns();
  await session.close(1_000);
  expect(committed).toEqual(["0: 1", "1: 1"]);
  expect(sink.failures.length).toBe(1);
});

test("an offset that is out of range ends the session with what is lost, and the start of a partition without a commit is committed", async () => {
  const { kafka, sink, session, committed, low } = await setUp();
  await kafka.fetch(0, 0);
  await session.commit(sink.held.filter(({ partition }) => partition === 0).map((assignment) => ({ assignment, offset: 1n })));
  low.value = 5n;
  session.outOfRange({ topic: "t", partition: 0 });
  expect([...kafka.paused]).toEqual(["t[0]"]);
  await sink.until(() => sink.failures.length > 0);
  expect(sink.failures[0]).toMatchObject({
    code: "offset-out-of-range",
    lost: { topic: "t", partition: 0, firstMissing: 1n, firstAvailable: 5n },
  });
  await session.close(1_000);
  expect(committed).toEqual(["0: 1", "1: 0"]);
});

test("after a failure that says nothing of the logs, nothing is committed: a missing commit may be all that shows a recreated topic", async () => {
  const { kafka, sink, session, committed } = await setUp();
  sink.onBatch = () => Promise.reject(new Error("a mistake of ours"));
  await kafka.fetch(0, 0);
  await sink.until(() => sink.failures.length === 1);
  await session.close(1_000);
  expect(committed).toEqual([]);
});

test("an offset that is out of range after a refused commit has kafkajs join again", async () => {
  const { sink, session } = await setUp();
  const refusal = Object.assign(new Error("the group does not know this member"), { type: "UNKNOWN_MEMBER_ID" });
  session.useGeneration(() => Promise.reject(refusal));
  const [assignment] = sink.held as [PartitionAssignment];
  await expect(session.commit([{ assignment, offset: 1n }])).rejects.toBe(refusal);
  expect(() => session.outOfRange({ topic: "t", partition: 0 })).toThrow(refusal);
  await session.close(1_000);
});

test("partitions that are given up for a new topic are not fetched while their records are handled", async () => {
  const { kafka, sink, session } = await setUp({ topics: [/^t/u] });
  let letGo = (): void => {};
  sink.onRevoked = () => new Promise((resolve) => (letGo = resolve));
  await sink.until(() => sink.revocations.length === 1);
  expect([...kafka.paused].sort()).toEqual(["t[0]", "t[1]"]);
  letGo();
  await turns();
  kafka.tell("group join", { memberAssignment: { t: [0, 1] } });
  await sink.until(() => sink.starts.length === 4);
  expect([...kafka.paused]).toEqual([]);
  await session.close(1_000);
});
