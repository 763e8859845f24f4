import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectorValues, fillIn, readConnectors, topicsOf } from "../../scripts/stack/connectors.mjs";
import { checkJars, expectedHashes, sha256 } from "../../scripts/stack/jars.mjs";
import { isRunning, startProcess, stopProcess } from "../../scripts/stack/process.mjs";
import { javaMajor, requireJava, requireMaven } from "../../scripts/stack/requirements.mjs";
import { insert } from "../../scripts/stack/seed.mjs";
import { debeziumJars, kafkaJars, registryJars } from "../../scripts/stack/versions.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";

let dir = "";

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "cdckit-scripts-"));
});

afterAll(() => rmSync(dir, { recursive: true }));

describe("stopping a recorded process", () => {
  function startSleeper(name: string): ReturnType<typeof startProcess> {
    const marker = `${dir}/${name}`;
    return startProcess({ name, command: "tail", args: ["-f", "/dev/null", marker], marker, log: join(dir, `${name}.log`), outlive: true });
  }

  test("ends it", async () => {
    const { record } = startSleeper("ours");
    await waitUntil({ what: "the process", check: async () => isRunning(record), deadlineMs: 10_000 });
    expect(await stopProcess(record)).toBe(true);
    expect(isRunning(record)).toBe(false);
  });

  test("leaves a process alone that got the same id later", async () => {
    const { record } = startSleeper("somebody-elses");
    await waitUntil({ what: "the process", check: async () => isRunning(record), deadlineMs: 10_000 });
    expect(await stopProcess({ ...record, marker: "another command line" })).toBe(false);
    expect(isRunning(record)).toBe(true);
    await stopProcess(record);
  });

  test("says that there was nothing when it is gone already", async () => {
    expect(await stopProcess({ pid: 2 ** 22 + 1, marker: "x", log: "" })).toBe(false);
  });
});

test("a process that may not outlive its parent ends with it, however the parent ends", async () => {
  const marker = `${dir}/leashed`;
  const script = `
    import { startProcess } from ${JSON.stringify(join(import.meta.dirname, "../../scripts/stack/process.mjs"))};
    const options = { name: "x", command: "tail", args: ["-f", "/dev/null", ${JSON.stringify(marker)}], marker: ${JSON.stringify(marker)}, log: ${JSON.stringify(`${marker}.log`)}, outlive: false };
    console.log(startProcess(options).record.pid);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await parent.stdout.take(1).toArray()) as Buffer[];
  const record = { pid: Number(String(chunk)), marker, log: "" };
  await waitUntil({ what: "the child", check: async () => isRunning(record), deadlineMs: 10_000 });
  parent.kill("SIGKILL");
  expect(await waitUntil({ what: "its end", check: async () => !isRunning(record), deadlineMs: 10_000 })).toBe(true);
});

test("a process that ends while starting is told with the end of its log", async () => {
  const log = join(dir, "fails.log");
  const running = startProcess({
    name: "thing",
    command: "/bin/sh",
    args: ["-c", "echo no such luck; exit 3"],
    marker: "x",
    log,
    outlive: true,
  });
  const waiting = waitUntil({ what: "it", check: async () => false, deadlineMs: 10_000, giveUp: running.assertAlive });
  await expect(waiting).rejects.toThrow(/^\[process-died\] thing ended while starting \(exit code 3\)[^]*no such luck/);
});

describe("jars", () => {
  const set = { ...kafkaJars, name: "toy" };

  test("are all on the committed list", () => {
    expect(expectedHashes(kafkaJars).size).toBeGreaterThan(80);
    expect(expectedHashes(debeziumJars).size).toBeGreaterThan(30);
    expect([...expectedHashes(registryJars).keys()]).toEqual(["apicurio-registry-app-3.0.9-all.tar.gz"]);
  });

  test("that differ, are missing or are too many are named", async () => {
    const folder = mkdtempSync(join(dir, "jars-"));
    writeFileSync(join(folder, "a.jar"), "what was tested");
    const hash = await sha256(join(folder, "a.jar"));
    const list = expectedHashes(set, `${hash}  toy/a.jar\n${hash}  kafka/b.jar\n`);
    await checkJars(set, folder, list);
    writeFileSync(join(folder, "a.jar"), "something else");
    await expect(checkJars(set, folder, list)).rejects.toThrow(/^\[jar-mismatch\] .*a\.jar has SHA-256 .*, expected /);
    rmSync(join(folder, "a.jar"));
    await expect(checkJars(set, folder, list)).rejects.toThrow(/a\.jar is not there/);
    writeFileSync(join(folder, "a.jar"), "what was tested");
    writeFileSync(join(folder, "c.jar"), "");
    await expect(checkJars(set, folder, list)).rejects.toThrow(/c\.jar is not on the list/);
  });
});

describe("what is missing on a machine", () => {
  test("is told with how to get it", () => {
    expect(() => requireJava({ JAVA_HOME: "/nowhere" })).toThrow(/^\[java-missing\] no Java found .*apt-get install openjdk/);
    expect(() => requireMaven({ PATH: "/nowhere" })).toThrow(/^\[maven-missing\] no Maven found .*apt-get install maven/);
  });

  test("includes a Java that is too old", () => {
    expect(javaMajor('openjdk version "1.8.0_392"')).toBe(8);
    expect(javaMajor('openjdk version "17.0.15" 2025-04-15')).toBe(17);
    expect(javaMajor('openjdk version "21-ea" 2023-09-19')).toBe(21);
    expect(javaMajor("what?")).toBe(null);
  });
});

describe("the connector definitions", () => {
  const database = { host: "127.0.0.1", port: 5432, user: "u", password: "p", database: "d" };
  const filled = readConnectors().map((connector) => fillIn(connector, connectorValues(database, "http://registry", "s.a,s.b")));

  test("have every placeholder filled in by the stack", () => {
    expect(JSON.stringify(filled)).not.toContain("${");
  });

  test("differ in slot, publication and topics, so that all three follow one table", () => {
    for (const key of ["slot.name", "publication.name", "topic.prefix"]) {
      expect(new Set(filled.map(({ config }) => config[key])).size).toBe(3);
    }
    expect(filled.flatMap(topicsOf).sort()).toEqual(["av.s.a", "av.s.b", "jn.s.a", "jn.s.b", "js.s.a", "js.s.b"]);
  });

  test("name no placeholder that nothing fills in", () => {
    expect(() => fillIn({ name: "x", config: { key: "${TYPO}" } }, connectorValues(database, "", ""))).toThrow(/key names \$\{TYPO\}/);
  });
});

test("a seed that is interrupted says how many rows it has inserted, and does not claim the others", async () => {
  const interrupt = new AbortController();
  const ranges: unknown[] = [];
  const query = async (_text: string, values: unknown[]): Promise<void> => {
    ranges.push(values);
    if (ranges.length === 2) {
      interrupt.abort();
    }
  };
  await expect(insert({ query }, 25_000, interrupt.signal)).rejects.toMatchObject({
    code: "interrupted",
    message: "[interrupted] stopped after 20,000 of 25,000 rows were inserted into sales.salesorderdetail",
  });
  expect(ranges).toEqual([
    [0, 9_999],
    [10_000, 19_999],
  ]);
});
