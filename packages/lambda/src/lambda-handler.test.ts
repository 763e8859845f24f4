import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { runInNewContext } from "node:vm";
import { createDecoder, isDecodeError, type SchemaId, type SchemaSource } from "@cdckit/decode";
import { createRegistry, fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createLambdaHandler,
  isLambdaError,
  type KafkaEvent,
  type KafkaEventRecord,
  type LambdaContext,
  type LambdaHandlerOptions,
} from "./index.ts";

const recorded = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
/** Records of real Debezium, in Avro, as Lambda writes them. */
let records: readonly KafkaEventRecord[] = [];

beforeAll(async () => {
  records = (await loadRecording(recorded.file)).map(({ topic, partition, offset, timestamp, key, value, headers }) => ({
    topic,
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key: key === null ? null : Buffer.from(key).toString("base64"),
    value: value === null ? null : Buffer.from(value).toString("base64"),
    headers: headers.map(([name, bytes]) => ({ [name]: bytes === null ? null : [...bytes] })),
  }));
});

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same records in these partitions of a topic with a dash in its name. */
function eventOf(partitions: readonly number[], eventSource = "SelfManagedKafka"): KafkaEvent {
  const entries = partitions.map((partition) => [
    `shop-eu.orders-${partition}`,
    records.map((record) => ({ ...record, topic: "shop-eu.orders", partition })),
  ]);
  return { eventSource, records: Object.fromEntries(entries) as KafkaEvent["records"] };
}

interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function handlerOf(options: LambdaHandlerOptions = {}) {
  const lines: Line[] = [];
  const log = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push({ level, fields, message });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  return { handler: createLambdaHandler({ registry: fromBundle(recorded.schemasFile), logger, ...options }), lines };
}

describe("a failure", () => {
  test("ends its partition at its record and no other partition, whose records are all handled in their order", async () => {
    const { handler, lines } = handlerOf();
    const handled: Record<number, number[]> = { 0: [], 1: [], 2: [] };
    const failing = records[2]?.offset ?? -1;
    handler.on("*", async ({ record }) => {
      await Promise.resolve();
      if (record.partition === 1 && Number(record.offset) === failing) {
        throw new Error("the warehouse is closed");
      }
      handled[record.partition]?.push(Number(record.offset));
    });
    expect(await handler(eventOf([0, 1, 2]))).toEqual({
      batchItemFailures: [{ itemIdentifier: { partition: "shop-eu.orders-1", offset: failing } }],
    });
    const all = records.map(({ offset }) => offset);
    expect(handled).toEqual({ 0: all, 1: all.slice(0, 2), 2: all });
    expect(lines).toMatchObject([
      { level: "error", fields: { err: { message: "the warehouse is closed" }, topic: "shop-eu.orders", partition: 1, offset: failing } },
    ]);
  });

  test("is one of decoding, too, and says so", async () => {
    const { handler, lines } = handlerOf();
    handler.on("*", () => {});
    const { records: partitions } = eventOf([0]);
    const cut = records.map((record, index) =>
      index === 1 && typeof record.value === "string"
        ? { ...record, value: Buffer.from(record.value, "base64").subarray(0, -1).toString("base64") }
        : record,
    );
    expect(Object.keys(partitions)).toEqual(["shop-eu.orders-0"]);
    const answer = await handler({ eventSource: "aws:kafka", records: { "shop-eu.orders-0": cut } });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: { partition: "shop-eu.orders-0", offset: cut[1]?.offset } }] });
    expect(isDecodeError(lines[0]?.fields["err"])).toBe(true);
  });

  test("of a registry that cannot be asked leaves every record to the next attempt", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const registry = createRegistry({ url: `http://127.0.0.1:${port}`, timeoutMs: 1_000, retry: { attempts: 1 } });
    const { handler, lines } = handlerOf({ registry });
    handler.on("*", () => {});
    const first = records[0]?.offset;
    expect(await handler(eventOf([0]))).toEqual({
      batchItemFailures: [{ itemIdentifier: { partition: "shop-eu.orders-0", offset: first } }],
    });
    expect(lines[0]?.fields["err"]).toMatchObject({ code: "schema-unavailable", retriable: true });
    await registry.close();
  });

  test("that comes again goes on at its record, and gives each record once in all", async () => {
    const { handler } = handlerOf();
    const handled: number[] = [];
    let isDown = true;
    handler.on("*", ({ record }) => {
      if (isDown && Number(record.offset) === records[3]?.offset) {
        throw new Error("the warehouse is closed");
      }
      handled.push(Number(record.offset));
    });
    const event = eventOf([0]);
    const { batchItemFailures } = await handler(event);
    isDown = false;
    // As Lambda does: the records of the partition from the one that was named on.
    const rest = Object.entries(event.records).map(([name, list]) => {
      const from = batchItemFailures.find(({ itemIdentifier }) => itemIdentifier.partition === name)?.itemIdentifier.offset ?? Infinity;
      return [name, list.filter(({ offset }) => offset >= from)] as const;
    });
    expect(await handler({ ...event, records: Object.fromEntries(rest) })).toEqual({ batchItemFailures: [] });
    expect(handled).toEqual(records.map(({ offset }) => offset));
  });

  test("is an error of the invocation with the option failure: throw, with the failure as its cause", async () => {
    const { handler, lines } = handlerOf({ failure: "throw" });
    const cause = new Error("the warehouse is closed");
    handler.on("*", ({ record }) => {
      if (record.partition === 1) {
        throw cause;
      }
    });
    const error = await handler(eventOf([0, 1])).catch((thrown: unknown) => thrown);
    expect(isLambdaError(error)).toBe(true);
    expect(error).toMatchObject({ code: "batch-failed", cause });
    expect(lines.map(({ message }) => message)).toEqual(["a record failed; Lambda hands over the whole batch again"]);
    expect((error as Error).message).toContain("1 of 2 partitions have a record that was not handled, the first is shop-eu.orders-1@");
    await expect(handler(eventOf([0]))).resolves.toEqual({ batchItemFailures: [] });
  });
});

describe("events that no handler takes", () => {
  test("are warned of once for each table and operation, with the patterns that there are", async () => {
    const { handler, lines } = handlerOf();
    handler.on("inv.composite", { create: () => {} }).on("composite_pk", { delete: () => {} });
    const warned = async () => {
      expect(await handler(eventOf([0, 1]))).toEqual({ batchItemFailures: [] });
      return lines.map(({ level, fields: { op, patterns } }) => ({ level, op, patterns }));
    };
    const patterns = ["inv.composite", "composite_pk"];
    const first = await warned();
    expect(first).toContainEqual({ level: "warn", op: "update", patterns });
    expect(first.map(({ op }) => op)).not.toContain("delete");
    expect(new Set(first.map(({ op }) => op)).size).toBe(first.length);
    expect(await warned()).toEqual(first);
  });

  test("are warned of up to a hundred names", async () => {
    const { handler, lines } = handlerOf({ registry: undefined });
    handler.on("orders", { create: () => {} });
    const list = Array.from({ length: 150 }, (_, offset): KafkaEventRecord => {
      const source = { connector: "postgresql", name: "shop", db: "shop", schema: "public", table: `t${offset}` };
      const value = { before: null, after: { id: 1 }, source, op: "c", ts_ms: 1 };
      return { topic: "all", partition: 0, offset, timestamp: 0, value: Buffer.from(JSON.stringify(value)).toString("base64") };
    });
    expect(await handler({ eventSource: "aws:kafka", records: { "all-0": list } })).toEqual({ batchItemFailures: [] });
    expect(lines).toHaveLength(100);
    expect(lines[99]).toMatchObject({
      level: "warn",
      fields: { table: "shop.public.t99", op: "create", topic: "all", patterns: ["orders"] },
    });
  });

  test("of which many handlers ask for none, tombstones and control events, are not warned of", async () => {
    const { handler, lines } = handlerOf();
    handler.on("composite_pk", { create: () => {}, read: () => {}, update: () => {}, delete: () => {} });
    await handler(eventOf([0]));
    expect(records.some(({ value }) => value === null)).toBe(true);
    expect(lines).toEqual([]);
  });
});

describe("a failure while a failure is logged changes no answer", () => {
  const answer = (partitions: readonly number[]) => ({
    batchItemFailures: partitions.map((partition) => ({
      itemIdentifier: { partition: `shop-eu.orders-${partition}`, offset: records[0]?.offset },
    })),
  });
  const failing = (error: unknown) => () => {
    throw error;
  };

  test.each<[string, () => void]>([
    ["throws", failing(new Error("the log is full"))],
    ["rejects", () => Promise.reject(new Error("the log is full"))],
  ])("if the logger %s", async (_, log) => {
    const logger = { debug: log, info: log, warn: log, error: log };
    const { handler } = handlerOf({ logger, reserveMs: 500 });
    handler.on("*", failing(new Error("the warehouse is closed")));
    expect(await handler(eventOf([0, 1]))).toEqual(answer([0, 1]));
    expect(await handler(eventOf([0]), { getRemainingTimeInMillis: () => 1 })).toEqual(answer([0]));
  });

  /** The lines that the logger for stderr writes of a handler that throws this. */
  async function linesOf(error: unknown): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const handler = createLambdaHandler({ registry: fromBundle(recorded.schemasFile) }).on("*", failing(error));
      expect(await handler(eventOf([0]))).toEqual(answer([0]));
      return write.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    } finally {
      write.mockRestore();
    }
  }

  test("if the causes of an error lead back to it, and the error is logged", async () => {
    const error = new Error("the warehouse is closed");
    error.cause = new Error("the road is closed", { cause: error });
    expect(await linesOf(error)).toMatchObject([
      { level: 50, partition: 0, err: { message: "the warehouse is closed", cause: { message: "the road is closed" } } },
    ]);
  });

  test("if undefined is thrown, or an error of another realm, and the line says what", async () => {
    expect(await linesOf(undefined)).toMatchObject([{ level: 50, err: "undefined" }]);
    expect(await linesOf(runInNewContext("new TypeError('x')"))).toMatchObject([{ level: 50, err: { type: "TypeError", message: "x" } }]);
  });

  test.each<[string, unknown]>([
    ["has no text", Object.create(null)],
    [
      "throws when it is read",
      Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("if the error %s, and its record is logged", async (_, error) => {
    const line = { level: 50, partition: 0, msg: "a record failed; Lambda is asked to go on with it" };
    expect(await linesOf(error)).toMatchObject([line]);
    const lines: unknown[] = [];
    // As pino does, it reads what it is given, and throws if that cannot be read.
    const log = (fields: { readonly err?: unknown }, msg: string) =>
      void lines.push({ ...fields, level: 50, msg, ...("err" in fields ? { err: textOf(fields.err) } : {}) });
    const { handler } = handlerOf({ logger: { debug: log, info: log, warn: log, error: log } });
    handler.on("*", failing(error));
    expect(await handler(eventOf([0]))).toEqual(answer([0]));
    expect(lines).toMatchObject([line]);
  });
});

test("no record is started when the invocation has too little time left", async () => {
  const { handler, lines } = handlerOf({ reserveMs: 500 });
  let left = 1_000;
  const handled: number[] = [];
  handler.on("*", ({ record }) => {
    handled.push(Number(record.offset));
    left -= 300;
  });
  const answer = await handler(eventOf([0]), { getRemainingTimeInMillis: () => left });
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: { partition: "shop-eu.orders-0", offset: records[2]?.offset } }] });
  expect(handled).toEqual(records.slice(0, 2).map(({ offset }) => offset));
  expect(lines).toMatchObject([{ level: "warn", fields: { offset: records[2]?.offset, reserveMs: 500 } }]);
});

test("a time that is left beyond what a timer can wait does not end at once", async () => {
  const bundle = fromBundle(recorded.schemasFile);
  const loaded = new Set<SchemaId>();
  const registry: SchemaSource = {
    peek: (id) => (loaded.has(id) ? bundle.peek(id) : undefined),
    load: async (id) => {
      await new Promise((resolve) => setTimeout(resolve, 20)); // longer than the 1 ms that Node makes of such a delay
      loaded.add(id);
      return bundle.load(id);
    },
  };
  const { handler } = handlerOf({ registry });
  handler.on("*", () => {});
  expect(await handler(eventOf([0]), { getRemainingTimeInMillis: () => 2 ** 40 })).toEqual({ batchItemFailures: [] });
});

test("a registry that does not answer leaves its partition in time, and the others are handled", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const bundle = fromBundle(recorded.schemasFile);
  const unanswered = 0x7fff_ffff;
  const load: SchemaSource["load"] = (id) => (id === unanswered ? new Promise(() => {}) : bundle.load(id));
  const registry = { peek: (id: SchemaId) => bundle.peek(id), load };
  const { handler, lines } = handlerOf({ registry, reserveMs: 500 });
  const handled: number[] = [];
  const others = new Promise<void>((resolve) => {
    handler.on("*", ({ record }) => {
      handled.push(record.partition);
      if (handled.length === records.length) {
        resolve();
      }
    });
  });
  const event = eventOf([0, 1]);
  const [first] = event.records["shop-eu.orders-0"] ?? [];
  const value = Buffer.from(first?.value ?? "", "base64");
  value.writeInt32BE(unanswered, 1); // the id of its schema, in Confluent's framing
  Object.assign(first ?? {}, { value: value.toString("base64") });
  const answer = handler(event, { getRemainingTimeInMillis: () => 1_000 });
  await others;
  await vi.advanceTimersByTimeAsync(500);
  expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: { partition: "shop-eu.orders-0", offset: first?.offset } }] });
  expect(new Set(handled)).toEqual(new Set([1]));
  expect(lines).toMatchObject([
    {
      level: "warn",
      fields: { partition: 0, offset: first?.offset, err: { message: expect.stringContaining("waited for its schema") as string } },
    },
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test("with the option failure: throw, the error's cause says that the time has run out", async () => {
  const { handler, lines } = handlerOf({ reserveMs: 500, failure: "throw" });
  handler.on("*", () => {});
  const error = await handler(eventOf([0]), { getRemainingTimeInMillis: () => 499 }).catch((thrown: unknown) => thrown);
  const message = "the invocation had less than reserveMs (500 ms) left, so that the record was not started";
  expect(error).toMatchObject({ code: "batch-failed", cause: { message } });
  expect(lines).toMatchObject([{ level: "warn", message: "the invocation has no time left; Lambda hands over the whole batch again" }]);
});

test("strict makes an event that nobody takes a failure of its record", async () => {
  const { handler, lines } = handlerOf({ strict: true });
  handler.on("composite_pk", { create: () => {}, read: () => {}, delete: () => {} });
  const { batchItemFailures } = await handler(eventOf([0]));
  expect(batchItemFailures.length).toBe(1);
  expect(lines[0]?.fields["err"]).toMatchObject({ code: "unhandled-event" });
});

test("an event of another trigger is refused, so that a wrong trigger is seen", async () => {
  const { handler } = handlerOf();
  const message = '[invalid-event] expected an event of Kafka (eventSource "aws:kafka" or "SelfManagedKafka", with records), found ';
  await expect(handler({ Records: [{ eventSource: "aws:sqs" }] } as never)).rejects.toThrow(`${message}no eventSource`);
  await expect(handler({ eventSource: "aws:kafka" } as never)).rejects.toThrow(`${message}eventSource "aws:kafka"`);
  await expect(handler(null as never)).rejects.toThrow(message);
});

test.each<[string, unknown, string]>([
  ["no list", { "s.t-0": null }, 'records["s.t-0"] to be a list of records, found null'],
  ["a list of something else", { "s.t-0": [null] }, 'records["s.t-0"][0] to be a record with an integer as its offset, found null'],
  [
    "no offset",
    { "s.t-0": [{ offset: 1 }, { topic: "s.t" }] },
    'records["s.t-0"][1] to be a record with an integer as its offset, found another offset, or none',
  ],
])("an event with %s for a partition is refused in words, and none of its records is handled", async (_, broken, message) => {
  const { handler } = handlerOf();
  let handled = 0;
  handler.on("*", () => void handled++);
  const { records: sound } = eventOf([0]);
  const error: unknown = await handler({ eventSource: "aws:kafka", records: { ...sound, ...(broken as object) } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: "LambdaError", code: "invalid-event" });
  expect((error as Error).message).toContain(`expected ${message}`);
  expect(handled).toBe(0);
});

test.each<[string, object, string]>([
  ["a value of JSON", { value: '{"id":1}' }, "the value of t[0]@7 to be base64, as Lambda writes it, found other text"],
  ["a value that was parsed", { value: { id: 1 } }, "the value of t[0]@7 to be base64, as Lambda writes it, found object"],
  ["a key of text", { key: "order 1" }, "the key of t[0]@7 to be base64, as Lambda writes it, found other text"],
  [
    "a header in base64",
    { headers: [{ id: "AQ==" }] },
    "the headers of t[0]@7 to be lists of bytes, as numbers, as Lambda writes it, found string",
  ],
  [
    "a header of other numbers",
    { headers: [{ id: [256] }] },
    "the headers of t[0]@7 to be lists of bytes, as numbers, as Lambda writes it, found a list of something else",
  ],
  ["headers by their names", { headers: { id: [1] } }, "the headers of t[0]@7 to be a list of objects, as Lambda writes it, found object"],
  ["no timestamp", { timestamp: undefined }, "the timestamp of t[0]@7 to be an integer, as Lambda writes it, found undefined"],
])("a record with %s fails, and the error says what Lambda writes", async (_, part, message) => {
  const { handler, lines } = handlerOf();
  let handled = 0;
  handler.on("*", () => void handled++);
  const record = { topic: "t", partition: 0, offset: 7, timestamp: 0, value: Buffer.from('{"id":1}').toString("base64"), ...part };
  const event = { eventSource: "aws:kafka", records: { "t-0": [record] } } as unknown as KafkaEvent;
  expect(await handler(event)).toEqual({ batchItemFailures: [{ itemIdentifier: { partition: "t-0", offset: 7 } }] });
  expect(handled).toBe(0);
  expect(lines[0]?.fields["err"]).toMatchObject({ code: "invalid-event", message: `[invalid-event] expected ${message}` });
});

test("base64 without padding, empty texts and headers of signed bytes are read", async () => {
  const { handler } = handlerOf();
  const seen: unknown[] = [];
  handler.on("*", ({ record }) => void seen.push(record.headers));
  const record = { topic: "t", partition: 0, timestamp: 0, headers: [{ a: [-1, 255, 0] }, { b: null }, { c: [] }] };
  const values = ['{"id":1}', '{"id":12}', '{"id":123}'].map((text) => Buffer.from(text).toString("base64").replace(/=+$/, ""));
  const list = values.map((value, offset) => ({
    ...record,
    offset,
    value,
    key: offset === 0 ? null : Buffer.from("1").toString("base64"),
  }));
  expect(await handler({ eventSource: "aws:kafka", records: { "t-0": list } })).toEqual({ batchItemFailures: [] });
  const headers = [
    ["a", Uint8Array.of(255, 255, 0)],
    ["b", null],
    ["c", new Uint8Array()],
  ];
  expect(seen).toEqual([headers, headers, headers]);
});

test("a null value is a tombstone, whether it is null or left out, and an empty one is not", async () => {
  const { handler } = handlerOf({ registry: undefined, decoder: createDecoder({ topics: { t: { value: { encoding: "text" } } } }) });
  const kinds: string[] = [];
  handler.on("*", ({ kind }) => void kinds.push(kind));
  const record = { topic: "t", partition: 0, timestamp: 0, key: Buffer.from("1").toString("base64") };
  const list = [
    { ...record, offset: 0, value: null },
    { ...record, offset: 1 },
    { ...record, offset: 2, value: "", headers: null },
  ];
  expect(await handler({ eventSource: "aws:kafka", records: { "t-0": list } })).toEqual({ batchItemFailures: [] });
  expect(kinds.slice(0, 2)).toEqual(["tombstone", "tombstone"]);
  expect(kinds[2]).not.toBe("tombstone");
});

test("wrong options and handlers are refused where they are given", () => {
  const options = [
    [{ strict: 1 }, "[invalid-option] expected strict to be true or false, found number"],
    [{ failure: "halt" }, '[invalid-option] expected failure to be "report" or "throw", found "halt"'],
    [
      { reserveMs: -1 },
      "[invalid-option] expected reserveMs to be milliseconds, 0 or more and less than an invocation may take (900000), found -1",
    ],
    [{ reserveMs: 900_000 }, "less than an invocation may take (900000), found 900000"],
    [{ groupId: "g" }, "[invalid-option] groupId is no option; the options are registry, decoder, strict, failure, reserveMs, logger"],
    [
      { registry: "http://user:secret@registry" },
      '[invalid-option] expected registry to be { url: "http://..." } or a schema source, found a string',
    ],
    [{ registry: { url: "ftp://registry" } }, "[invalid-option] registry."],
    [{ decoder: { schemas: {} } }, "[invalid-option] expected decoder to be options of a decoder without schemas"],
    [
      { decoder: createDecoder(), registry: { url: "http://127.0.0.1:1" } },
      "[invalid-option] registry is not asked by a decoder of your own",
    ],
    [{ decoder: { values: { int64: "float" } } }, "[invalid-option] decoder."],
    [{ registry: { urls: "http://registry" } }, "[invalid-option] registry.urls must be a list of addresses"],
    [
      { logger: true },
      "[invalid-option] expected logger to be pino, an object with the methods debug, info, warn and error, or false, found true",
    ],
    [{ logger: { info: () => {} } }, "found an object without debug, warn, error"],
    [null, "[invalid-option] expected an object of options, found null"],
    ["http://registry", "[invalid-option] expected an object of options, found string"],
  ] as const;
  for (const [wrong, message] of options) {
    expect(() => createLambdaHandler(wrong as never)).toThrow(message);
  }
  const handler = createLambdaHandler().on("orders", { create: () => {} });
  const handlers = [
    ["orders", { create: () => {} }, '[invalid-handler] on("orders") has a handler for create already'],
    [
      "orders",
      { insert: () => {} },
      '[invalid-handler] on("orders"): handler "insert" is unknown: the handlers are create, update, delete,',
    ],
    ["orders", { batch: () => {} }, '[invalid-handler] on("orders"): handler "batch" is unknown'],
    ["orders", () => {}, '[invalid-handler] on("orders") expects an object of handlers'],
    ["*", function* () {}, '[invalid-handler] on("*"): handler "*" is a generator function'],
    ["items", { create: async function* () {} }, '[invalid-handler] on("items"): handler "create" is a generator function'],
    ["items", {}, '[invalid-handler] on("items") has no handler'],
    ["*", { update: undefined }, '[invalid-handler] on("*") has no handler'],
    [
      "transaction",
      { create: () => {} },
      '[invalid-handler] on("transaction") expects a function, because it is a kind of control event; a table of this name needs a longer one, as "public.transaction"',
    ],
    ["", { create: () => {} }, "[invalid-handler] on() expects the name of a table or a topic"],
    [/orders/, { create: () => {} }, '"*" or the kind of a control event, got the regular expression /orders/'],
    [undefined, () => {}, '"*" or the kind of a control event, got undefined'],
    ["public.*", { create: () => {} }, '[invalid-handler] on() expects a name without wildcards, got "public.*": name each table or topic'],
  ] as const;
  for (const [pattern, wrong, message] of handlers) {
    expect(() => handler.on(pattern as "orders", wrong as never)).toThrow(message);
  }
  const on = handler.on as (...parts: unknown[]) => unknown; // as JavaScript calls it
  expect(() => on("items", { create: () => {} }, { row: {} })).toThrow('[invalid-handler] on("items") takes no validators');
});

test("a handler without handlers is an error: Lambda would commit every record unhandled", async () => {
  const { handler } = handlerOf();
  await expect(handler(eventOf([0]))).rejects.toThrow(
    "[invalid-handler] there is no handler, and Lambda would commit every record unhandled",
  );
});

test("a context that says no time has time without an end", async () => {
  const { handler } = handlerOf();
  handler.on("*", () => {});
  expect(await handler(eventOf([0]), {} as LambdaContext)).toEqual({ batchItemFailures: [] });
});

test("rows have the types that a handler says, and `on` gives the handler that Lambda calls", async () => {
  const { handler } = handlerOf();
  const seen: number[] = [];
  const same = handler.on<{ a: number }>("composite_pk", { create: ({ after }) => void seen.push(after.a) });
  expect(same).toBe(handler);
  await same(eventOf([0]));
  expect(seen.length).toBeGreaterThan(0);
});

test.each(["aws:kafka", "SelfManagedKafka", "aws:SelfManagedKafka"])("an event of the source %j is taken", async (eventSource) => {
  const { handler } = handlerOf();
  handler.on("*", () => {});
  expect(await handler(eventOf([], eventSource))).toEqual({ batchItemFailures: [] });
});
