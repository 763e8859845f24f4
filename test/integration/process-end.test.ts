import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProxiedKafka, startProxiedKafka } from "../chaos/proxied-kafka.ts";
import type { TcpProxy } from "../chaos/tcp-proxy.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const script = fileURLToPath(new URL("./end-of-process.mjs", import.meta.url));
// The service runs what users run.
const isBuilt = existsSync(new URL("../../packages/kafkajs/dist/index.js", import.meta.url));
const missing = await missingForKafka();
/** After `run()` has settled, nothing is left to wait for: this is for a machine that has much to do. */
const allowedMs = 2_000;
/** Each scenario that cuts the network has one for itself. Most scenarios wait for most of their time, so they run beside each other. */
const proxyCount = 3;

interface Scenario {
  readonly ending?: "run" | "pipe" | "break" | "throw";
  readonly handler?: "handles" | "hangs" | "throws" | "rejects" | "isAway";
  /** What is done to the service, and when. By default SIGTERM when a record is being handled. */
  readonly act?: readonly Act[];
  /** What `run()` ends with; null where it is a matter of moments. */
  readonly ends?: string | null;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly proxied?: boolean;
  /** Subscribes to the topic by a regular expression. */
  readonly byPattern?: boolean;
}

/**
 * `handling`, `handling again` (a second attempt) and `started` are waited for, numbers are milliseconds that pass, the others are done.
 */
type Act = "handling" | "handling again" | "started" | "SIGTERM" | "SIGINT" | "cut" | "swallow" | number;

describe.skipIf(missing !== "" || !isBuilt)(
  "a process ends by itself when run() has settled",
  { meta: { skipReason: missing }, concurrent: true },
  () => {
    let broker: ProxiedKafka;
    let admin: Admin;
    let producer: Producer;
    let silent: Server;
    let free: Pool<TcpProxy>;

    beforeAll(async () => {
      broker = await startProxiedKafka(proxyCount);
      free = new Pool(broker.proxies);
      const client = new Kafka({ brokers: [broker.kafka.brokers], logLevel: logLevel.NOTHING });
      [admin, producer] = [client.admin(), client.producer({ createPartitioner: () => () => 0 })];
      await Promise.all([admin.connect(), producer.connect()]);
      silent = createServer(() => {}).listen(0, "127.0.0.1");
      await once(silent, "listening");
    });
    afterAll(async () => {
      await Promise.all([admin?.disconnect(), producer?.disconnect()]);
      silent?.close();
      await broker?.stop();
    });

    async function topicWith(value: Buffer | string, count = 200): Promise<string> {
      const topic = uniqueName("ends");
      await createTopics(admin, [{ topic, numPartitions: 2 }]);
      await producer.send({ topic, messages: Array.from({ length: count }, (_, id) => ({ key: `${id}`, value })) });
      return topic;
    }

    async function live(
      scenario: Scenario,
      topic: string,
    ): Promise<{ readonly said: string; readonly livedOnMs: number; readonly alive: string }> {
      const {
        ending = "run",
        handler = "handles",
        act = ["handling", "SIGTERM"],
        options = {},
        proxied = false,
        byPattern = false,
      } = scenario;
      const proxy = proxied ? await free.take() : null;
      const brokers = proxy === null ? broker.kafka.brokers : `127.0.0.1:${proxy.port}`;
      const given = { brokers, topics: [byPattern ? `/^${topic}$/` : topic], groupId: uniqueName("ends"), ending, handler, ...options };
      const child = spawn(process.execPath, [script, JSON.stringify(given)], { stdio: ["ignore", "pipe", "pipe"] });
      const said = new Said(child);
      try {
        for (const step of act) {
          await doStep(step, child, said, proxy);
        }
        await said.closed(20_000);
      } finally {
        child.kill("SIGKILL");
        if (proxy !== null) {
          proxy.heal();
          free.give(proxy);
        }
      }
      const settled = said.lines.find((line) => line.startsWith("settled")) ?? `never settled, said ${said.lines.slice(-3).join("; ")}`;
      const lived = said.lines.find((line) => line.startsWith("lived on for"));
      return { said: settled, livedOnMs: Number(lived?.split(" ").at(-1) ?? Number.POSITIVE_INFINITY), alive: said.stderr };
    }

    /** That nothing keeps the process alive once run() has settled. */
    async function endsInTime(scenario: Scenario, topic: string): Promise<void> {
      const { said, livedOnMs, alive } = await live(scenario, topic);
      const { ends } = scenario;
      expect(livedOnMs, `${said}; ${alive}`).toBeLessThan(allowedMs);
      expect(said).toMatch(ends === null ? /^settled/ : ends === undefined ? /^settled$/ : `settled ${ends}`);
    }

    const lanes = { delivery: { concurrency: 8 } };
    const longRetry = { failure: { retry: { initialDelayMs: 60_000, maxDelayMs: 60_000, jitter: "none" } } };
    const letters = {
      failure: {
        poison: "dead-letter",
        deadLetterTopic: "letters",
        createDeadLetterTopic: true,
        retry: { attempts: 2, initialDelayMs: 1_000, jitter: "none" },
      },
    };
    const abandoned = "work-abandoned";

    test.each<[string, Scenario]>([
      ["a clean stop", {}],
      ["a clean stop of lanes", { options: lanes }],
      ["a clean stop of a client of one's own", { options: { ownClient: true } }],
      ["a handler that never resolves", { handler: "hangs", ends: abandoned }],
      ["a handler that never resolves, in lanes", { handler: "hangs", ends: abandoned, options: lanes }],
      ["a handler that never resolves, with a client of one's own", { handler: "hangs", ends: abandoned, options: { ownClient: true } }],
      [
        "a second signal while it drains",
        { handler: "hangs", act: ["handling", "SIGTERM", 50, "SIGINT"], ends: abandoned, options: { shutdownTimeoutMs: 20_000 } },
      ],
      ["a stop while a retry waits", { handler: "isAway", options: longRetry }],
      ["a stop while a retry waits, in lanes", { handler: "isAway", options: { ...lanes, ...longRetry } }],
      ["a stop while the next write to a sink waits", { options: { sink: { kind: "isAway" }, ...longRetry } }],
      ["a handler that throws", { handler: "throws", act: [], ends: "handler-failed" }],
      [
        "a handler that rejects, with a client of one's own",
        { handler: "rejects", act: [], ends: "handler-failed", options: { ownClient: true, failure: { retry: { attempts: 1 } } } },
      ],
      ["a stop while it connects", { act: ["started", "SIGTERM"] }],
      ["a stop while it joins", { act: ["started", 150, "SIGTERM"] }],
      ["a topic that does not exist", { act: [], ends: "topic-missing", options: { topics: ["no-such-topic"] } }],
      ["brokers that refuse", { act: [], ends: "brokers-unreachable", options: { brokers: "127.0.0.1:1" } }],
      ["a loop that is left", { ending: "break", act: [] }],
      ["a loop that throws", { ending: "throw", act: [], ends: "thrown in the loop" }],
      ["topics by a regular expression", { byPattern: true }],
      ["a sink that neither applies nor closes", { options: { sink: { kind: "hangs" } }, ends: abandoned }],
    ])("%s", async (_name, scenario) => {
      await endsInTime(scenario, await topicWith('{"id":1}'));
    });

    test.each<[string, Scenario]>([
      ["a stop when the brokers are gone", { act: ["handling", "cut", 500, "SIGTERM"], ends: null }],
      ["a stop when the brokers have been gone for long", { act: ["handling", "cut", 6_000, "SIGTERM"], ends: null }],
      ["a stop when the network swallows all", { act: ["handling", "swallow", 500, "SIGTERM"], ends: null }],
      ["a stop that gives up when the brokers are gone", { handler: "hangs", act: ["handling", "cut", 500, "SIGTERM"], ends: abandoned }],
      [
        "a stop that gives up when the network swallows all",
        { handler: "hangs", act: ["handling", "swallow", 500, "SIGTERM"], ends: abandoned },
      ],
      ["a stop while it connects to a network that swallows all", { act: ["swallow", "started", 300, "SIGTERM"] }],
      ["a stop while it connects to brokers that are gone", { act: ["cut", "started", 100, "SIGTERM"] }],
      [
        "a stop while dead letters cannot be written",
        {
          handler: "rejects",
          act: ["handling", "swallow", "handling again", 1_000, "SIGTERM"], // the second attempt is the last one: what follows is the dead letter
          ends: abandoned,
          options: letters,
        },
      ],
      [
        "a stop while dead letters have no brokers",
        {
          handler: "rejects",
          act: ["handling", "cut", "handling again", 1_000, "SIGTERM"], // the second attempt is the last one: what follows is the dead letter
          ends: null, // if the session ends first, nothing is left to abandon
          options: letters,
        },
      ],
    ])("%s", async (_name, scenario) => {
      await endsInTime({ ...scenario, proxied: true }, await topicWith('{"id":1}'));
    });

    test("a record that does not decode", async () => {
      await endsInTime({ act: [], ends: "malformed" }, await topicWith("{no json"));
    });

    test("a registry that accepts and never answers", async () => {
      const address = silent.address();
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
      await endsInTime(
        { act: ["started", 3_000, "SIGTERM"], options: { registry: { url, timeoutMs: 60_000 } } },
        await topicWith(Buffer.from([0, 0, 0, 0, 7, 1, 2])),
      );
    });

    test("a database that accepts and never answers", async () => {
      const address = silent.address();
      const connectionString = `postgres://user@127.0.0.1:${typeof address === "object" ? address?.port : 0}/db`;
      await endsInTime(
        { act: ["started", 3_000, "SIGTERM"], options: { sink: { kind: "postgres", connectionString } } },
        await topicWith('{"id":1}'),
      );
    });

    /** Another member of the group, which handles or hangs. */
    async function withOther(topic: string, eachMessage: () => Promise<void>, work: (groupId: string) => Promise<void>): Promise<void> {
      const groupId = uniqueName("ends");
      const other = new Kafka({ brokers: [broker.kafka.brokers], logLevel: logLevel.NOTHING }).consumer({ groupId });
      const joined = new Promise((resolve) => other.on(other.events.GROUP_JOIN, resolve));
      await other.connect();
      await other.subscribe({ topic, fromBeginning: true });
      await other.run({ eachMessage, autoCommit: false });
      await joined;
      try {
        await work(groupId);
      } finally {
        await other.disconnect();
      }
    }

    test.each<[string, Readonly<Record<string, unknown>>]>([
      ["one record after the other", {}],
      ["lanes", lanes],
    ])("a member of a group that has rebalanced, with %s", async (_name, options) => {
      const topic = await topicWith('{"id":1}');
      await withOther(
        topic,
        async () => {},
        (groupId) =>
          endsInTime({ handler: "hangs", act: ["handling", 1_500, "SIGTERM"], ends: abandoned, options: { ...options, groupId } }, topic),
      );
    });

    test("a member that waits for others to join", async () => {
      const topic = await topicWith('{"id":1}');
      let goOn = (): void => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await withOther(
        topic,
        () => held,
        async (groupId) => {
          await endsInTime({ act: ["started", 2_500, "SIGTERM"], options: { groupId } }, topic);
          goOn();
        },
      );
    });

    test("a pipe whose network swallows all", async () => {
      await createTopics(admin, [{ topic: "copies" }]).catch(() => {});
      await endsInTime(
        { ending: "pipe", proxied: true, ends: null, act: ["started", 2_500, "swallow", 500, "SIGTERM"], options: { target: "copies" } },
        await topicWith('{"id":1}', 20_000),
      );
    });
  },
);

async function doStep(step: Act, child: ChildProcess, said: Said, proxy: TcpProxy | null): Promise<void> {
  if (typeof step === "number") {
    await new Promise((resolve) => setTimeout(resolve, step));
  } else if (step === "cut") {
    proxy?.cut();
  } else if (step === "swallow") {
    proxy?.swallow();
  } else if (step === "SIGTERM" || step === "SIGINT") {
    child.kill(step);
  } else if (step === "handling again") {
    await said.until("handling", 2, 20_000);
  } else {
    await said.until(step, 1, 20_000);
  }
}

/** Lends each item to one at a time. */
class Pool<Item> {
  readonly #free: Item[];
  readonly #waiting: ((item: Item) => void)[] = [];

  constructor(items: readonly Item[]) {
    this.#free = [...items];
  }

  take(): Item | Promise<Item> {
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(item: Item): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free.push(item);
    } else {
      next(item);
    }
  }
}

/** What a child has said, and when it ended. */
class Said {
  readonly lines: string[] = [];
  stderr = "";
  readonly #child: ChildProcess;
  #onLine: () => void = () => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout !== null && child.stderr !== null) {
      createInterface({ input: child.stdout }).on("line", (line) => {
        this.lines.push(line);
        this.#onLine();
      });
      child.stderr.on("data", (chunk: Buffer) => {
        this.stderr += chunk.toString();
      });
    }
  }

  async until(line: string, times: number, withinMs: number): Promise<void> {
    const begin = performance.now();
    while (
      this.lines.filter((said) => said === line).length < times &&
      this.#child.exitCode === null &&
      performance.now() - begin < withinMs
    ) {
      await new Promise<void>((resolve) => {
        this.#onLine = resolve;
        setTimeout(resolve, 1_000).unref();
      });
    }
  }

  async closed(withinMs: number): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await once(this.#child, "close", { signal: AbortSignal.timeout(withinMs) }).catch(() => {});
    }
  }
}
