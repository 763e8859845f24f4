/** The service of docker/service, scraped by a real Prometheus, which is asked what the dashboards and the alerts ask. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { alertRules, dashboardQueries } from "../packaging/observed.ts";
import { createTopics, uniqueName, withKafka } from "./stack.ts";

const root = join(import.meta.dirname, "../..");
const kafka = await withKafka();
const isBuilt = existsSync(join(root, "packages/cdckit/dist/index.js"));
const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined;
const skipReason =
  kafka.skip !== false
    ? kafka.skip
    : !isBuilt
      ? "the packages are not built: run `npm test`, or `npm run build` first"
      : hasPrometheus
        ? ""
        : "Prometheus is not installed: apt-get install prometheus";

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly metric: Readonly<Record<string, string>>; readonly value: [number, string] }[] };
}

describe.skipIf(skipReason !== "")("the service of docker/service, scraped by Prometheus", { meta: { skipReason } }, () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-prometheus-"));
  const children: ChildProcess[] = [];
  const group = uniqueName("scraped");
  let prometheusUrl = "";

  beforeAll(async () => {
    const [servicePort = 0, prometheusPort = 0] = await freePorts(2);
    start(process.execPath, [join(root, "docker/service/index.js")], {
      KAFKA_BROKERS: brokers(),
      TOPICS: await filledTopic(),
      GROUP_ID: group,
      PORT: String(servicePort),
    });
    const config = readFileSync(join(root, "docker/prometheus/prometheus.yml"), "utf8");
    writeFileSync(join(folder, "prometheus.yml"), config.replace("service:8080", `127.0.0.1:${servicePort}`).replaceAll("5s", "1s"));
    writeFileSync(join(folder, "alerts.yml"), readFileSync(join(root, "docker/prometheus/alerts.yml")));
    prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
    start("prometheus", [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ]);
    await waitUntil({
      what: "a scrape of a consumer that has handled all records, and others before it: a rate needs two",
      deadlineMs: 90_000,
      check: async () => {
        const handled = `cdckit_consumer_handled_total{group="${group}"}`;
        const answer = await ask(`${handled} == 5 and count_over_time(${handled}[1m]) > 2`).catch(() => null);
        return (answer?.data.result.length ?? 0) > 0;
      },
    });
  });

  afterAll(async () => {
    await Promise.all(children.map(stop));
    rmSync(folder, { recursive: true, force: true });
  });

  function brokers(): string {
    return kafka.skip === false ? kafka.part.brokers : "";
  }

  function start(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    children.push(spawn(command, args, { env: { ...process.env, ...env }, stdio: "ignore" }));
  }

  async function stop(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
  }

  async function filledTopic(): Promise<string> {
    const client = new Kafka({ brokers: [brokers()], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer({ createPartitioner: () => () => 0 })];
    await Promise.all([admin.connect(), producer.connect()]);
    const topic = uniqueName("scraped");
    await createTopics(admin, [{ topic }]);
    await producer.send({ topic, messages: [1, 2, 3, 4, 5].map((id) => ({ value: `{"id":${id},"__op":"c"}` })) });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    return topic;
  }

  async function ask(query: string): Promise<Answer> {
    const response = await fetch(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`);
    return (await response.json()) as Answer;
  }

  test("is well, and says so", async () => {
    const live = await ask(`cdckit_consumer_live{group="${group}"}`);
    expect(live.data.result[0]?.value[1]).toBe("1");
    const changes = await ask("sum(service_changes_total)");
    expect(changes.data.result[0]?.value[1]).toBe("5");
  });

  test.each(dashboardQueries())("the dashboards' %s has an answer", async (query) => {
    const { status, error, data } = await ask(query);
    expect(status, error).toBe("success");
    expect(data.result.length).toBeGreaterThan(0);
  });

  test("no alert is pending or fires, and each is evaluated without an error", async () => {
    const response = await fetch(`${prometheusUrl}/api/v1/rules`);
    const { data } = (await response.json()) as { data: { groups: { rules: { name: string; state: string; health: string }[] }[] } };
    const rules = data.groups.flatMap((one) => one.rules);
    expect(rules.map(({ name }) => name)).toEqual(alertRules().map(({ alert }) => alert));
    expect(rules.filter(({ health }) => health === "err")).toEqual([]);
    for (const { expr } of alertRules()) {
      expect(await ask(expr)).toMatchObject({ status: "success", data: { result: [] } });
    }
  });
});
