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
import { findChromium, launchChromium } from "./chromium.ts";
import { arePicturesTaken, takePicture } from "./pictures.ts";
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
  const group = arePicturesTaken ? "stock" : uniqueName("scraped");
  let [prometheusUrl, topic] = ["", ""];

  beforeAll(async () => {
    const [servicePort = 0, prometheusPort = 0] = await freePorts(2);
    topic = await filledTopic();
    start(process.execPath, [join(root, "docker/service/index.js")], {
      KAFKA_BROKERS: brokers(),
      TOPICS: topic,
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
    const name = uniqueName("scraped");
    await createTopics(admin, [{ topic: name }]);
    await producer.send({ topic: name, messages: [1, 2, 3, 4, 5].map((id) => ({ value: `{"id":${id},"__op":"c"}` })) });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    return name;
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

  if (arePicturesTaken) {
    test("shows what the dashboard asks, in Prometheus' own pages", { timeout: 240_000 }, async (context) => {
      const chromium = findChromium();
      if (chromium.skip !== false) return context.skip(chromium.skip);
      await writeForAWhile();
      const browser = await launchChromium(chromium.path);
      const page = await browser.newPage({ viewport: { width: 900, height: 848 }, colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(`${prometheusUrl}/graph?${panelOf("records_total")}`);
      await page.getByText("Total time series: 1").waitFor();
      await takePicture(page, "prometheus");
      await browser.close();
    });
  }

  /** The dashboard's first query of a metric, as a panel in the address of Prometheus' page of graphs. */
  function panelOf(metric: string): string {
    const query = dashboardQueries().find((one) => one.includes(metric)) ?? "";
    return `g0.expr=${encodeURIComponent(query)}&g0.tab=0&g0.range_input=1m`;
  }

  /** Until there is something to see. Prometheus scrapes each second. */
  async function writeForAWhile(): Promise<void> {
    const producer = new Kafka({ brokers: [brokers()], logLevel: logLevel.NOTHING }).producer({ createPartitioner: () => () => 0 });
    await producer.connect();
    let id = 5;
    await waitUntil({
      what: "more than a minute of scrapes",
      deadlineMs: 150_000,
      check: async () => {
        const count = Math.round(400 + 300 * Math.sin(id / 5_000));
        await producer.send({ topic, messages: Array.from({ length: count }, () => ({ value: `{"id":${id++},"__op":"c"}` })) });
        const answer = await ask(`count_over_time(cdckit_consumer_live{group="${group}"}[2m]) > 75`);
        return answer.data.result.length > 0;
      },
    });
    await producer.disconnect();
  }
});
