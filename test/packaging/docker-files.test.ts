import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { alertRules, dashboardQueries, metricsIn } from "./observed.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const blocksOf = (path: string): string[] => [...read(path).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

describe("the Dockerfile of a service", () => {
  const text = read("docker/service/Dockerfile");

  test("has no complaint of the linter", () => {
    expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
    expect(validate("FRM node").length).toBeGreaterThan(0);
  });

  test("pins its base, runs without root, and starts Node itself, which signals have to reach", () => {
    const froms = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image);
    for (const image of froms) {
      expect(image).toMatch(/^node:\d+\.\d+\.\d+-alpine[\d.]+$/);
    }
    const last = text.slice(text.lastIndexOf("FROM "));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^CMD \["node", /m);
  });
});

describe("the documents and the files that they speak of", () => {
  test("have the same alerts", () => {
    expect(parse(blocksOf("docs/operations.md")[0] ?? "")).toEqual(parse(read("docker/prometheus/alerts.yml")));
  });

  test("have the same manifests", () => {
    const files = ["docker/kubernetes/service.yml", "docker/kubernetes/scaled-object.yml"];
    expect(blocksOf("docs/kubernetes.md")).toEqual(files.map(read));
    expect(readdirSync(join(root, "docker/kubernetes"))).toHaveLength(files.length);
  });
});

describe("dashboards and alerts", () => {
  /** With the ending that prom-client gives counters. */
  const known = [...read("packages/consumer/src/observe/prometheus.ts").matchAll(/(counter|gauge)\("(\w+)"/g)].map(
    ([, type, name]) => `cdckit_consumer_${name}${type === "counter" ? "_total" : ""}`,
  );

  test("ask for metrics that a consumer has", () => {
    const asked = [...dashboardQueries(), ...alertRules().map(({ expr }) => expr)].flatMap(metricsIn);
    expect(asked.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("show every metric of a consumer", () => {
    expect([...new Set(dashboardQueries().flatMap(metricsIn))].toSorted()).toEqual(known.toSorted());
  });

  test("alerts fire for what they are about, and for nothing else", (context) => {
    const { error, status, stdout, stderr } = spawnSync("promtool", ["test", "rules", join(root, "docker/prometheus/alerts.test.yml")], {
      encoding: "utf8",
    });
    if (error !== undefined) {
      context.skip("promtool is not installed: apt-get install prometheus");
    }
    expect(status, `${stdout}${stderr}`).toBe(0);
    const tried = read("docker/prometheus/alerts.test.yml");
    for (const { alert } of alertRules()) {
      expect(tried).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts`));
    }
  });
});
