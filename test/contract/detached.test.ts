import { createConsumer, type ConsumerMessages, ConsumerError, deadLetterOf } from "@cdckit/consumer";
import {
  createDecoder,
  DecodeError,
  Deduplicator,
  KeyChangeLinker,
  SchemaChangeLearner,
  sourcePositions,
  TransactionAssembler,
} from "@cdckit/decode";
import { KafkaJsDriverError, kafkajs } from "@cdckit/kafkajs";
import { postgres, PostgresRefusal, PostgresSinkError } from "@cdckit/postgres";
import { createRegistry, RegistryError } from "@cdckit/registry";
import { inOrderScheduler, memory, MemoryBroker, MemoryBrokerError, RecordingError, recordOf, virtualClock } from "@cdckit/testkit";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, test } from "vitest";

const lost = { topic: "t", partition: 0, firstMissing: 1n, firstAvailable: 5n, end: 9n };
const at = { topic: "t", partition: 0, offset: 7n };

test("what a consumer says of itself has a JSON form", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", ...["1", "2"].map((value) => ({ key: "k", value: `{"n":${value}}` })));
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock });
  const texts: string[] = [];
  const listen = (message: unknown): void => void texts.push(JSON.stringify(message));
  const channels: readonly (keyof ConsumerMessages)[] = ["phase", "assigned", "revoked", "commit", "process"];
  channels.forEach((name) => subscribe(`cdckit:consumer:${name}`, listen));
  const { on, run, stop, health } = consumer;
  on("*", (event) => {
    texts.push(JSON.stringify([event, event.record]));
    if (event.record.offset === 1n) {
      clock.after(3_000, () => {
        texts.push(JSON.stringify(health()), JSON.stringify(health().assigned));
        void stop();
      });
    }
  });
  await clock.run(run());
  channels.forEach((name) => unsubscribe(`cdckit:consumer:${name}`, listen));
  expect(texts.find((text) => text.startsWith('{"phase":'))).toContain('"handledTo":"2"');
  expect(texts.join()).toContain('"offset":"1"');
});

test("deliveries, errors and origins have a JSON form, and done() works by itself", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: '{"n":1}' });
  const { stream, stop } = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock });
  const loop = async (): Promise<void> => {
    for await (const delivery of stream()) {
      const { event, done } = delivery;
      expect(JSON.parse(JSON.stringify(delivery))).toMatchObject({ event: { kind: event.kind, record: { offset: "0" } } });
      done();
      void stop();
    }
  };
  await clock.run(loop());
  expect(broker.committed("g", "t", 0)).toBe(1n);
  for (const error of [new ConsumerError("handler-failed", "x", { at }), new DecodeError("malformed", "x", { at })]) {
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: error.name, code: error.code, at: { offset: "7" } });
  }
  for (const error of [
    new KafkaJsDriverError("offset-out-of-range", "x", { lost }),
    new MemoryBrokerError("offset-out-of-range", "x", lost),
  ]) {
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: error.code, lost: { firstMissing: "1", end: "9" } });
  }
  const headers = [
    ["__connect.errors.topic", Buffer.from("t")],
    ["__connect.errors.offset", Buffer.from("7")],
  ] as const;
  expect(JSON.parse(JSON.stringify(deadLetterOf({ headers })))).toMatchObject({ topic: "t", offset: "7" });
});

test("events and explanations have a JSON form, and come of functions that stand alone", async () => {
  const { decode, explain } = createDecoder();
  const record = recordOf(Buffer.from('{"n":12345678901234567890}'), { offset: 1n, timestamp: 1n });
  const [event] = await decode(record);
  expect(JSON.stringify([event, event?.record])).toContain("12345678901234567890");
  expect(JSON.stringify(await explain(record))).toContain("candidates");
});

test("every public method works without its object", () => {
  const instances: object[] = [
    createDecoder(),
    createRegistry({ url: "http://127.0.0.1:1" }),
    postgres({ connectionString: "postgres://127.0.0.1:1/none" }),
    createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] }),
    memory({ topics: { t: 1 } }),
    kafkajs({ brokers: ["127.0.0.1:1"] }),
    new MemoryBroker({ t: 1 }),
    virtualClock(),
    inOrderScheduler(),
    new TransactionAssembler(),
    new KeyChangeLinker(),
    new SchemaChangeLearner(),
    new Deduplicator(sourcePositions),
  ];
  for (const instance of instances) {
    const prototype: object = Object.getPrototypeOf(instance) as object;
    const names = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
    const unbound = names.filter((name) => {
      const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
      return name !== "constructor" && typeof value === "function" && !Object.hasOwn(instance, name);
    });
    expect([instance.constructor.name, unbound]).toEqual([instance.constructor.name, []]);
  }
  const { append, endOffset, read } = new MemoryBroker({ t: 1 });
  append("t", { key: null, value: "x" });
  expect([endOffset("t", 0), read("t", 0, 0n, 1).length]).toEqual([1n, 1]);
  const { health } = createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
  expect(health().phase).toBe("idle");
});

test("every public error class has a JSON form with its name, code and message", async () => {
  const doors = await Promise.all(packages.map((name) => import(name) as Promise<Readonly<Record<string, unknown>>>));
  const classes = new Set(doors.flatMap((door) => Object.values(door).filter(isErrorClass)));
  expect([...classes].map(({ name }) => name).toSorted()).toEqual(Object.keys(publicErrors).toSorted());
  for (const error of Object.values(publicErrors)) {
    const json = JSON.parse(JSON.stringify([error])) as readonly Record<string, unknown>[];
    expect(json[0]).toMatchObject({ name: error.constructor.name, code: error.code, message: error.message });
    expect(json[0]).not.toHaveProperty("cause");
  }
});

const packages = [
  ...["consumer", "decode", "json-schema", "kafkajs", "postgres", "registry", "testkit"].map((name) => `@cdckit/${name}`),
  "cdc-bench",
  "cdckit",
];

/** One of each, with what it may hold that JSON has no value for. */
const publicErrors: Readonly<Record<string, Error & { readonly code: string }>> = {
  ConsumerError: new ConsumerError("handler-failed", "x", { at, cause: 1n }),
  DecodeError: new DecodeError("malformed", "x", { at, cause: 1n }),
  KafkaJsDriverError: new KafkaJsDriverError("offset-out-of-range", "x", { lost, cause: 1n }),
  MemoryBrokerError: new MemoryBrokerError("offset-out-of-range", "x", lost),
  PostgresRefusal: new PostgresRefusal({ table: "orders", message: "secret" }, "23505"),
  PostgresSinkError: new PostgresSinkError("rejected", "x", { cause: 1n }),
  RecordingError: new RecordingError("malformed-line", "f", "x", { line: 2, cause: 1n }),
  RegistryError: new RegistryError("not-found", "x", { id: 7, url: "http://127.0.0.1:1", status: 404, cause: 1n }),
};

function isErrorClass(value: unknown): value is { readonly name: string } {
  return typeof value === "function" && value.prototype instanceof Error;
}
