import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectValidResult } from "../integration/result-schema.ts";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Compared {
  readonly aborted: boolean;
  readonly rounds: number;
  readonly readers: readonly {
    readonly topic: string;
    readonly reader: string;
    readonly records: number;
    readonly errorRecords: number;
    readonly bytesPerRecord: number;
    readonly rate: { readonly rounds: readonly number[] };
  }[];
  readonly pairs: readonly {
    readonly dimension: string;
    readonly ratio: { readonly ratio: number; readonly low: number; readonly high: number };
  }[];
  readonly notes: readonly string[];
}

await describeWithKafka("cdc-bench compare on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  const folder = mkdtempSync(join(tmpdir(), "cdc-bench-compare-"));
  let states = 0;

  beforeAll(() => admin.connect());
  afterAll(async () => {
    await admin.disconnect();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A journal of its own, so that runs of other tests are none of its business. */
  const newState = (): string => join(folder, `state-${++states}`);

  /** Gets a signal after `when` was seen on stderr. */
  async function compare(
    args: readonly string[],
    state: string,
    kill?: { readonly when: RegExp; readonly signal: NodeJS.Signals },
  ): Promise<Ended> {
    const child = spawn(process.execPath, [binary, "compare", "--brokers", kafka.brokers, ...args], {
      env: { ...process.env, XDG_STATE_HOME: state },
      stdio: ["ignore", "pipe", "pipe"],
      // A reading that does not end is killed, so that it does not stay when its test is given up.
      timeout: 90_000,
      killSignal: "SIGKILL",
    });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err.push(text);
      // Once: a second signal ends the process before it has written what it has.
      if (!child.killed && kill?.when.test(err.join("")) === true) {
        child.kill(kill.signal);
      }
    });
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return { pid: child.pid, code, signal, stdout: out.join(""), stderr: err.join("") };
  }

  /** Topics that comparisons make, and the groups of this run: other tests read from the same broker. */
  async function leftAtTheBroker({ pid }: Pick<Ended, "pid">): Promise<readonly string[]> {
    const topics = (await admin.listTopics()).filter((name) => name.startsWith("cdc-bench-compare-"));
    const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((name) => name.startsWith(`cdc-bench-${pid}-`));
    return [...topics, ...groups];
  }

  test("throw-away topics of two formats: everybody reads every row, and nothing is left", async () => {
    const state = newState();
    const ended = await compare(["--rows", "2000", "--formats", "json,json-with-schema", "--rounds", "1", "--json"], state);
    const { code, stdout, stderr } = ended;
    expect(code, stderr).toBe(0);
    const result = expectValidResult(stdout) as unknown as Compared;
    expect(result.rounds).toBe(1);
    expect(result.readers.map(({ reader }) => reader)).toEqual(
      [...Array(2)].flatMap(() => ["cdckit", "kafkajs + JSON.parse", "kafkajs, no decode"]),
    );
    for (const { records, errorRecords, rate } of result.readers) {
      expect({ records, errorRecords, rounds: rate.rounds.length }).toEqual({ records: 2_000, errorRecords: 0, rounds: 1 });
    }
    // Who reads the same topic reads the same bytes.
    const bytes = (topic: string): readonly number[] =>
      result.readers.filter((each) => each.topic === topic).map(({ bytesPerRecord }) => bytesPerRecord);
    for (const topic of new Set(result.readers.map((each) => each.topic))) {
      expect(new Set(bytes(topic)).size).toBe(1);
    }
    expect(result.pairs.map(({ dimension }) => dimension)).toEqual(["format", "reader", "reader"]);
    for (const { ratio } of result.pairs) {
      expect(ratio.low).toBeLessThanOrEqual(ratio.ratio);
      expect(ratio.high).toBeGreaterThanOrEqual(ratio.ratio);
    }
    expect(result.notes.join("\n")).toContain("One round has wide intervals");
    expect(await leftAtTheBroker(ended)).toEqual([]);
  });

  test("a topic whose partitions end in markers and aborted records is read to its end by everybody", async () => {
    const topic = uniqueName("compare-transactions");
    await createTopics(admin, [{ topic, numPartitions: 2 }]);
    const producer = client.producer({
      transactionalId: uniqueName("tx"),
      maxInFlightRequests: 1,
      idempotent: true,
      // A transaction that has just ended may still be ending at the brokers.
      retry: { retries: 10 },
    });
    await producer.connect();
    const write = async (partition: number, records: number, commits: boolean): Promise<void> => {
      const transaction = await producer.transaction();
      const messages = Array.from({ length: records }, (_, id) => ({ partition, key: `${id}`, value: JSON.stringify({ id }) }));
      await transaction.send({ topic, messages });
      await (commits ? transaction.commit() : transaction.abort());
    };
    await write(0, 300, true);
    await write(1, 200, true);
    await write(1, 100, false);
    await producer.disconnect();
    const { code, stdout, stderr } = await compare(["--topics", topic, "--rounds", "1", "--json"], newState());
    expect(code, stderr).toBe(0);
    const { readers } = expectValidResult(stdout) as unknown as Compared;
    expect(readers.map(({ reader, records }) => [reader, records])).toEqual([
      ["cdckit", 500],
      ["kafkajs + JSON.parse", 500],
      ["kafkajs, no decode", 500],
    ]);
  });

  test("what is written to a topic while it is compared is not counted by anybody", async () => {
    const topic = uniqueName("compare-live");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    const producer = client.producer();
    await producer.connect();
    const messages = Array.from({ length: 50 }, (_, id) => ({ key: `${id}`, value: JSON.stringify({ id }) }));
    await producer.send({ topic, messages });
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await producer.send({ topic, messages });
        await pass(20); // other tests use the broker, too
      }
    })();
    const { code, stdout, stderr } = await compare(["--topics", topic, "--rounds", "1", "--json"], newState());
    isOver = true;
    await writing;
    await producer.disconnect();
    expect(code, stderr).toBe(0);
    const { readers } = expectValidResult(stdout) as unknown as Compared;
    expect(readers).toHaveLength(3);
    expect(new Set(readers.map(({ records }) => records)).size).toBe(1);
  });

  test("a missed threshold ends with 99, a missing topic with 4", async () => {
    const [missed, none] = await Promise.all([
      compare(["--rows", "300", "--formats", "json", "--rounds", "1", "--no-peers", "--threshold", "size.avg<10"], newState()),
      compare(["--topics", "no-such-topic"], newState()),
    ]);
    expect(missed.code, missed.stderr).toBe(99);
    expect(missed.stdout).toContain("MISSED");
    expect(none.code).toBe(4);
  });

  test("Ctrl-C gives the rounds that everybody ended, with exit code 130, and leaves nothing", async () => {
    const state = newState();
    const ended = await compare(["--rows", "500", "--formats", "json", "--rounds", "900", "--json"], state, {
      when: /round|warming up/,
      signal: "SIGINT",
    });
    const { code, stdout, stderr } = ended;
    expect(code, stderr).toBe(130);
    expect((JSON.parse(stdout) as Compared).aborted).toBe(true);
    expect(await leftAtTheBroker(ended)).toEqual([]);
    expect(filesIn(state)).toEqual([]);
  });

  test("Ctrl-C before the rows are written ends with 130 and says so, and leaves nothing", async () => {
    const state = newState();
    const ended = await compare(["--rows", "1000000", "--formats", "json", "--rounds", "1"], state, {
      when: /connecting/,
      signal: "SIGINT",
    });
    expect(ended.code, ended.stderr).toBe(130);
    expect(ended.stdout).toMatch(/^ABORTED/);
    expect(await leftAtTheBroker(ended)).toEqual([]);
    expect(filesIn(state)).toEqual([]);
  });

  test("a reader of its output that leaves at the same Ctrl-C changes neither the exit code nor what is removed", async () => {
    const state = newState();
    const child = spawn(
      process.execPath,
      [binary, "compare", "--brokers", kafka.brokers, "--rows", "500", "--formats", "json", "--rounds", "900"],
      {
        env: { ...process.env, XDG_STATE_HOME: state },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (!child.killed && /warming up|round/.test(said)) {
        // As in `cdc-bench compare 2>&1 | tee log`: the terminal interrupts both.
        child.stdout.destroy();
        child.stderr.destroy();
        child.kill("SIGINT");
      }
    });
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(130);
    expect(await leftAtTheBroker({ pid: child.pid })).toEqual([]);
    expect(filesIn(state)).toEqual([]);
  });

  test("what a killed run leaves is named by the next one, and --clean removes it", async () => {
    const state = newState();
    const killed = await compare(["--rows", "500", "--formats", "json", "--rounds", "900"], state, {
      when: /warming up|round/,
      signal: "SIGKILL",
    });
    expect(killed.signal).toBe("SIGKILL");
    expect((await leftAtTheBroker(killed)).some((name) => name.startsWith("cdc-bench-compare-"))).toBe(true);
    const cleaned = await compare(["--clean"], state);
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(cleaned.stdout).toContain("removed topic cdc-bench-compare-");
    expect(await leftAtTheBroker(killed)).toEqual([]);
  });
});

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, "cdc-bench"), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith("json"));
  } catch {
    return [];
  }
}
