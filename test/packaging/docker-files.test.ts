import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { text as textOf } from "node:stream/consumers";
import { readClientEnvironment } from "cdckit";
import { validate } from "dockerfile-utils";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { fileAddress } from "../../scripts/repository.mjs";
import { alertRules, dashboardQueries, metricsIn } from "./observed.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const blocksOf = (path: string): string[] => [...read(path).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly secretTargetRef?: readonly { readonly parameter: string; readonly name: string; readonly key: string }[];
    readonly triggers?: readonly { readonly metadata: Readonly<Record<string, unknown>>; readonly authenticationRef?: unknown }[];
  };
}

interface ServiceManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly volumes?: readonly { readonly name: string; readonly configMap: { readonly name: string } }[];
        readonly containers: readonly {
          readonly envFrom?: readonly {
            readonly configMapRef?: { readonly name: string };
            readonly secretRef?: { readonly name: string };
          }[];
          readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
          readonly livenessProbe?: { readonly timeoutSeconds?: number; readonly failureThreshold?: number };
          readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly runAsUser?: number };
        }[];
      };
    };
  };
}

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
    expect(last).toMatch(/^USER [1-9]\d*$/m); // a name would be refused by `runAsNonRoot`
    expect(last).toMatch(/^CMD \["node", /m);
  });
});

const isBuilt = existsSync(join(root, "packages/cdckit/dist/index.js"));

describe.skipIf(!isBuilt)(
  "the service",
  { meta: { skipReason: "the packages are not built: run `npm test`, or `npm run build` first" } },
  () => {
    test("that halts ends with the whole error in its log: the code's page, and not its message alone, which leaves the cause out", async () => {
      const registry = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
      await once(registry, "listening");
      const { port } = registry.address() as AddressInfo; // it listens
      const service = spawn(process.execPath, [join(root, "docker/service/index.js")], {
        env: { ...process.env, TOPICS: "t", PORT: "0", KAFKA_BROKERS: "127.0.0.1:1", SCHEMA_REGISTRY_URL: `http://127.0.0.1:${port}` },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const [log, [code]] = await Promise.all([textOf(service.stderr), once(service, "exit")]);
      registry.close();
      expect(log).toContain("[registry-unusable]");
      expect(log).toMatch(/helpUrl: '\S+registry-unusable.md'/);
      expect(code).toBe(1);
    });
  },
);

describe("an alert", () => {
  const runbooks = `${fileAddress(root)}docs/runbooks/`;

  test.each(alertRules())(
    "$alert says what it is about, how bad that is, and where its runbook stands",
    ({ alert, labels, annotations }) => {
      expect(["warning", "critical"]).toContain(labels?.["severity"]);
      expect(annotations?.["summary"]).toMatch(/\w+ \w+/);
      expect(annotations?.["description"]).toMatch(/\w+ \w+.*\.$/);
      const { runbook_url: runbook = "" } = annotations ?? {};
      expect(runbook.startsWith(runbooks)).toBe(true);
      const page = read(runbook.slice(fileAddress(root).length));
      expect(page.split("\n")[0]).toBe(`# ${alert}`);
      for (const part of ["**What it means.**", "**What to do.**", "**It is over**"]) {
        expect(page).toContain(part);
      }
    },
  );

  test("stands in the table of the documents, with its severity and its runbook", () => {
    const rows = [...read("docs/operations.md").matchAll(/^\| \[`(Consumer\w+)`\]\(([^)]+)\) \| (\w+) \|/gm)].map(([, ...cells]) => cells);
    const wanted = alertRules().map(({ alert, labels, annotations }) => [
      alert,
      annotations?.["runbook_url"]?.slice(`${fileAddress(root)}docs/`.length),
      labels?.["severity"],
    ]);
    expect(rows).toEqual(wanted);
  });

  test("is valid for promtool", (context) => {
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "rules", join(root, "docker/prometheus/alerts.yml")], {
      encoding: "utf8",
    });
    if (error !== undefined) {
      context.skip("promtool is not installed: apt-get install prometheus");
    }
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain(`${alertRules().length} rules found`);
  });
});

describe("the documents and the files that they speak of", () => {
  test("have the same manifests", () => {
    const files = ["docker/kubernetes/service.yml", "docker/kubernetes/scaled-object.yml", "docker/kubernetes/scaled-object-login.yml"];
    expect(blocksOf("docs/kubernetes.md")).toEqual(files.map(read));
    expect(readdirSync(join(root, "docker/kubernetes"))).toHaveLength(files.length);
  });
});

describe("the manifest of the service", () => {
  const manifests = parseAllDocuments(read("docker/kubernetes/service.yml")).map((document) => document.toJS() as ServiceManifest);
  const named = (kind: string, name: string | undefined) =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  const pod = manifests.find(({ kind }) => kind === "Deployment")?.spec?.template?.spec;
  const [container] = pod?.containers ?? [];

  test("runs as the user of the Dockerfile, by its number", () => {
    const [, user] = /^USER (.+)$/m.exec(read("docker/service/Dockerfile")) ?? [];
    expect(container?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user) });
  });

  test("waits long enough for an answer: a handler may compute for nearly as long as the session of its member, and none comes meanwhile", () => {
    const { timeoutSeconds = 1, failureThreshold = 3 } = container?.livenessProbe ?? {};
    expect(timeoutSeconds * failureThreshold).toBeGreaterThanOrEqual(30); // sessionTimeoutMs by default
  });

  test("gives the service a login, a registry and a certificate by variables that readClientEnvironment reads", () => {
    const variables: Record<string, string> = Object.assign(
      {},
      ...(container?.envFrom ?? []).map(({ configMapRef, secretRef }) =>
        configMapRef ? named("ConfigMap", configMapRef.name)?.data : named("Secret", secretRef?.name)?.stringData,
      ),
    );
    const [mount] = container?.volumeMounts ?? [];
    const volume = pod?.volumes?.find(({ name }) => name === mount?.name);
    const files = Object.entries(named("ConfigMap", volume?.configMap.name)?.data ?? {});
    const mounted = new Map(files.map(([name, text]) => [`${mount?.mountPath}/${name}`, text]));
    expect(mounted.has(variables["NODE_EXTRA_CA_CERTS"] ?? "")).toBe(true);

    const certificate = mounted.get(variables["KAFKA_SSL_CA"] ?? "");
    const { connection, registry, ignored } = readClientEnvironment({ ...variables, KAFKA_SSL_CA: certificate });
    expect(connection).toEqual({
      brokers: ["kafka-0:9094", "kafka-1:9094"],
      ssl: { ca: certificate?.trim() },
      sasl: { mechanism: "scram-sha-512", username: "stock", password: "change-me" },
    });
    expect(registry).toEqual({ urls: ["https://registry:8081"], auth: { basic: { username: "stock", password: "change-me" } } });
    expect(ignored).toEqual([]);
  });
});

describe("the scaler with a login", () => {
  const manifests = parseAllDocuments(read("docker/kubernetes/scaled-object-login.yml")).map((document) => document.toJS() as Manifest);
  const [secret, authentication, scaled] = ["Secret", "TriggerAuthentication", "ScaledObject"].map((kind) =>
    manifests.find((manifest) => manifest.kind === kind),
  );
  const [trigger] = scaled?.spec?.triggers ?? [];

  test("takes what it needs from manifests beside it", () => {
    expect(trigger?.authenticationRef).toEqual({ name: authentication?.metadata.name });
    const taken = authentication?.spec?.secretTargetRef ?? [];
    expect(taken.map(({ name }) => name)).toEqual(taken.map(() => secret?.metadata.name));
    expect(taken.map(({ key }) => key).toSorted()).toEqual(Object.keys(secret?.stringData ?? {}).toSorted());
  });

  test("has settings that KEDA's scaler for Kafka knows, all of them texts, and no secret among them", () => {
    const parameters = authentication?.spec?.secretTargetRef?.map(({ parameter }) => parameter) ?? [];
    expect(parameters.toSorted()).toEqual(["ca", "password", "username"]);
    const { metadata = {} } = trigger ?? {};
    expect(Object.keys(metadata).filter((name) => !scalerSettings.has(name))).toEqual([]);
    expect(Object.values(metadata).every((value) => typeof value === "string")).toBe(true);
    expect(metadata).toMatchObject({ sasl: "scram_sha512", tls: "enable", allowIdleConsumers: "false" });
  });

  test("follows the group, the topic and the deployment of the one without", () => {
    const plain = parse(read("docker/kubernetes/scaled-object.yml")) as Manifest;
    const { consumerGroup, topic } = plain.spec?.triggers?.[0]?.metadata ?? {};
    expect(trigger?.metadata).toMatchObject({ consumerGroup, topic });
    expect(scaled?.spec).toMatchObject({ ...plain.spec, triggers: expect.anything() as unknown });
  });
});

/** The names in `metadata` of a `kafka` trigger, by https://keda.sh/docs/2.22/scalers/apache-kafka/. */
const scalerSettings = new Set([
  ...["bootstrapServers", "consumerGroup", "topic", "lagThreshold", "activationLagThreshold", "offsetResetPolicy", "allowIdleConsumers"],
  ...["scaleToZeroOnInvalidOffset", "excludePersistentLag", "limitToPartitionsWithLag", "ensureEvenDistributionOfPartitions", "version"],
  ...["partitionLimitation", "sasl", "tls", "unsafeSsl"],
]);

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
