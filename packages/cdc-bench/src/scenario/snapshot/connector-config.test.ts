import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectorConfig, readTemplate, reportedConnector, templateOf } from "./connector-config.ts";
import { chooseConverters, type ConverterWishes } from "./formats.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-connector-"));
afterAll(() => rmSync(folder, { recursive: true }));

const postgres = "io.debezium.connector.postgresql.PostgresConnector";
const names = { connector: "cdc-bench-1", topicPrefix: "cdc_bench_1", slot: "cdc_bench_1" };

function fileWith(text: string): string {
  const file = join(folder, "connector.json");
  writeFileSync(file, text);
  return file;
}

describe("a connector of the user's own", () => {
  test("is filled in from the environment, except for what Connect fills in", () => {
    const config = { "connector.class": postgres, "database.password": "${DB_PASSWORD}", "database.user": "${file:/secrets:user}" };
    expect(readTemplate(fileWith(JSON.stringify({ name: "mine", config })), { DB_PASSWORD: "x" })).toEqual({
      "connector.class": postgres,
      "database.password": "x",
      "database.user": "${file:/secrets:user}",
    });
  });

  test.each([
    ["{", {}, /expected a connector as JSON/],
    ["{}", {}, /this has none/],
    [JSON.stringify({ "connector.class": "${NOT_SET}" }), {}, /names \$\{NOT_SET\}: set the environment variable NOT_SET/],
  ])("%s is refused with what is wrong", (text, env, message) => {
    expect(() => readTemplate(fileWith(text), env)).toThrow(message);
  });

  test("never shares its slot, its publication, its topics or its schema history with a measurement", () => {
    const mine = {
      "connector.class": postgres,
      "slot.name": "production",
      "publication.name": "production",
      "topic.prefix": "shop",
      "snapshot.mode": "never",
      "value.converter": "x.AvroConverter",
      "schema.history.internal.kafka.topic": "history",
      "poll.interval.ms": "7",
    };
    expect(connectorConfig(mine, names, "public.orders", { "value.converter": "y" })).toEqual({
      "connector.class": postgres,
      "poll.interval.ms": "7",
      "slot.name": "cdc_bench_1",
      "publication.name": "cdc_bench_1",
      "topic.prefix": "cdc_bench_1",
      "table.include.list": "public.orders",
      "snapshot.mode": "initial",
      "schema.history.internal.kafka.topic": "cdc_bench_1.schema-history",
      "value.converter": "y",
    });
  });

  test("is reported without anything that may be a secret", () => {
    const template = templateOf("postgres://somebody:secret@db.example/shop", {});
    expect(template).toMatchObject({ "database.hostname": "db.example", "database.port": "5432", "database.password": "secret" });
    expect(JSON.stringify(reportedConnector({ ...template, "value.converter.basic.auth.user.info": "a:secret" }))).not.toMatch(
      /secret|somebody/,
    );
  });
});

describe("converters", () => {
  const wishes: ConverterWishes = {
    formats: null,
    plugins: [{ class: "io.apicurio.registry.utils.converter.AvroConverter", type: "converter" }],
    registry: { url: "http://registry:8080/apis/ccompat/v7" },
    converterRegistry: undefined,
    template: {},
  };
  const avroOf = (changed: Partial<ConverterWishes>) =>
    chooseConverters({ ...wishes, ...changed }).choices.find(({ format }) => format === "avro")?.settings;

  test("are those that this Connect has, and the others are named", () => {
    const { choices, notes } = chooseConverters(wishes);
    expect(choices.map(({ format }) => format)).toEqual(["json-schema", "json", "avro"]);
    expect(notes).toEqual([expect.stringContaining("Protobuf is left out: this Kafka Connect has none of its converters")]);
  });

  test("talk to the registry as Connect calls it", () => {
    const url = "value.converter.apicurio.registry.url";
    expect(avroOf({})?.[url]).toBe("http://registry:8080/apis/registry/v2");
    expect(avroOf({ converterRegistry: "http://inside:1/v2" })?.[url]).toBe("http://inside:1/v2");
  });

  test("of Confluent get the registry's login", () => {
    const settings = avroOf({
      plugins: [{ class: "io.confluent.connect.avro.AvroConverter", type: "converter" }],
      registry: { url: "http://registry:8081", auth: { basic: { username: "me", password: "x" } } },
    });
    expect(settings).toMatchObject({
      "key.converter": "io.confluent.connect.avro.AvroConverter",
      "key.converter.schema.registry.url": "http://registry:8081",
      "value.converter.basic.auth.user.info": "me:x",
    });
  });

  test("of the template come before what Connect has", () => {
    const template = { "value.converter": "my.own.AvroConverter", "value.converter.where": "there", "slot.name": "mine" };
    expect(avroOf({ template })).toEqual({ "value.converter": "my.own.AvroConverter", "value.converter.where": "there" });
  });

  test("that were asked for by name and are not there are refused", () => {
    expect(() => chooseConverters({ ...wishes, formats: ["protobuf"] })).toThrow(/Protobuf cannot be written/);
    expect(() => chooseConverters({ ...wishes, formats: ["avro"], registry: undefined })).toThrow(/give --registry URL/);
  });
});
