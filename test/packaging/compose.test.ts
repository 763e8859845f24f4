import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { composeAddresses, composeValues } from "../../scripts/stack/compose-addresses.mjs";
import { defaultTables } from "../../scripts/stack/connectors.mjs";
import { versions } from "../../scripts/stack/versions.mjs";

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly environment: Readonly<Record<string, string | number>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const folder = join(import.meta.dirname, "..", "..", "docker");
const { services } = parse(readFileSync(join(folder, "compose.yml"), "utf8")) as { services: Readonly<Record<string, Service>> };

describe("every service of the compose file", () => {
  for (const [name, service] of Object.entries(services)) {
    test(`${name} has an image pinned to a release`, () => {
      expect(service.image).toMatch(/:\d+\.\d+(\.\d+)?(\.Final)?$/);
    });

    test(`${name} says when it is healthy`, () => {
      expect(service.healthcheck.test[0]).toMatch(/^CMD(-SHELL)?$/);
      expect(service.healthcheck.test.length).toBeGreaterThan(1);
    });

    test(`${name} is reachable from this machine only`, () => {
      for (const port of service.ports) {
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
    const published = Object.values(services).flatMap(({ ports }) => ports.map((port) => port.slice(0, port.lastIndexOf(":"))));
    for (const address of [brokers, new URL(registryUrl).host, new URL(connectUrl).host, `${postgres.host}:${postgres.port}`]) {
      expect(published).toContain(address);
    }
    expect(services["kafka"]?.environment["KAFKA_ADVERTISED_LISTENERS"]).toContain(brokers);
  });

  test("give connectors a database and a registry that the compose file has", () => {
    const { environment } = services[composeValues.POSTGRES_HOST] ?? { environment: {} };
    expect(environment).toMatchObject({
      POSTGRES_USER: composeValues.POSTGRES_USER,
      POSTGRES_PASSWORD: composeValues.POSTGRES_PASSWORD,
      POSTGRES_DB: composeValues.POSTGRES_DB,
    });
    expect(Object.keys(services)).toContain(new URL(composeValues.REGISTRY_URL).hostname);
  });
});
