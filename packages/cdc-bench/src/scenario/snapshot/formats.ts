import { BenchError } from "../../bench-error.ts";
import type { ConnectorConfig, ConnectPlugin } from "../../load/connect.ts";
import type { RegistryConnection } from "../../load/connection.ts";

export const snapshotFormats = ["json-schema", "json", "avro", "protobuf"] as const;

export type SnapshotFormat = (typeof snapshotFormats)[number];

export const formatLabels: Readonly<Record<SnapshotFormat, string>> = {
  "json-schema": "JSON + schema",
  json: "JSON",
  avro: "Avro",
  protobuf: "Protobuf",
};

/** How a connector writes one format. */
export interface ConverterChoice {
  readonly format: SnapshotFormat;
  /** Settings of a connector: `key.converter`, `value.converter` and what belongs to them. May hold a registry's login. */
  readonly settings: ConnectorConfig;
  /** Whether writers and readers need a schema registry. */
  readonly needsRegistry: boolean;
}

export interface ConverterWishes {
  /** Null: every format that this Connect can write. */
  readonly formats: readonly SnapshotFormat[] | null;
  readonly plugins: readonly ConnectPlugin[];
  /** Where this program reads schemas. */
  readonly registry: RegistryConnection | undefined;
  /** Where Connect's converters write schemas, as Connect sees it. */
  readonly converterRegistry: string | undefined;
  /** The user's own connector, whose converter settings come first. */
  readonly template: ConnectorConfig;
}

export interface ChosenConverters {
  readonly choices: readonly ConverterChoice[];
  /** Formats that were left out, a sentence each. */
  readonly notes: readonly string[];
}

/** Decides which formats this Connect writes, and how. A format that was asked for by name and cannot be written is a usage error. */
export function chooseConverters(wishes: ConverterWishes): ChosenConverters {
  const choices: ConverterChoice[] = [];
  const notes: string[] = [];
  for (const format of wishes.formats ?? snapshotFormats) {
    const found = converterOf(format, wishes);
    if (typeof found !== "string") {
      choices.push({ format, settings: found, needsRegistry: isRegistered(format) });
    } else if (wishes.formats === null) {
      notes.push(`${formatLabels[format]} is left out: ${found}`);
    } else {
      throw new BenchError("usage", `${formatLabels[format]} cannot be written: ${found}`);
    }
  }
  return { choices, notes };
}

function isRegistered(format: SnapshotFormat): boolean {
  return format === "avro" || format === "protobuf";
}

/** The settings, or the sentence that says why there are none. */
function converterOf(format: SnapshotFormat, wishes: ConverterWishes): ConnectorConfig | string {
  if (!isRegistered(format)) {
    return both({ converter: "org.apache.kafka.connect.json.JsonConverter", "converter.schemas.enable": String(format === "json-schema") });
  }
  const own = converterOfTemplate(format, wishes.template);
  if (wishes.registry === undefined) {
    return "its schemas are read from a registry: give --registry URL (SCHEMA_REGISTRY_URL).";
  }
  if (own !== null) {
    return own;
  }
  const installed = new Set(wishes.plugins.map((plugin) => plugin.class));
  const found = knownConverters.find((known) => known.format === format && installed.has(known.class));
  if (found === undefined) {
    const wanted = knownConverters.filter((known) => known.format === format).map((known) => known.class);
    return `this Kafka Connect has none of its converters (${wanted.join(", ")}).`;
  }
  return found.settings(wishes.registry, wishes.converterRegistry);
}

/** What the user's connector says of this format, if it writes it. */
function converterOfTemplate(format: SnapshotFormat, template: ConnectorConfig): ConnectorConfig | null {
  const pattern = format === "avro" ? /AvroConverter$/ : /ProtobufConverter$/;
  if (!pattern.test(template["value.converter"] ?? "")) {
    return null;
  }
  return Object.fromEntries(Object.entries(template).filter(([name]) => isConverterSetting(name)));
}

/** Whether a setting belongs to the converters, which change with the format. */
export function isConverterSetting(name: string): boolean {
  return /^(key|value)\.converter(\.|$)/.test(name) || /^(schema|field)\.name\.adjustment\.mode$/.test(name);
}

interface KnownConverter {
  readonly format: SnapshotFormat;
  readonly class: string;
  settings(registry: RegistryConnection, converterRegistry: string | undefined): ConnectorConfig;
}

const knownConverters: readonly KnownConverter[] = [
  { format: "avro", class: "io.confluent.connect.avro.AvroConverter", settings: (...where) => confluent("avro.AvroConverter", ...where) },
  { format: "avro", class: "io.apicurio.registry.utils.converter.AvroConverter", settings: apicurioAvro },
  {
    format: "protobuf",
    class: "io.confluent.connect.protobuf.ProtobufConverter",
    settings: (...where) => confluent("protobuf.ProtobufConverter", ...where),
  },
];

function confluent(converter: string, { url, auth }: RegistryConnection, converterRegistry: string | undefined): ConnectorConfig {
  const login = auth !== undefined && "basic" in auth ? auth.basic : undefined;
  return {
    ...both({
      converter: `io.confluent.connect.${converter}`,
      "converter.schema.registry.url": converterRegistry ?? url,
      ...(login !== undefined && {
        "converter.basic.auth.credentials.source": "USER_INFO",
        "converter.basic.auth.user.info": `${login.username}:${login.password}`,
      }),
    }),
    ...avroNames,
  };
}

/** Apicurio's 2.6 converters, which all of Connect 3 and 4 load, write in Confluent's framing with the ids that its Confluent API knows. */
function apicurioAvro({ url }: RegistryConnection, converterRegistry: string | undefined): ConnectorConfig {
  return {
    ...both({
      converter: "io.apicurio.registry.utils.converter.AvroConverter",
      "converter.apicurio.registry.url": converterRegistry ?? url.replace(/\/apis\/ccompat\/v\d+.*$/, "/apis/registry/v2"),
      "converter.apicurio.registry.auto-register": "true",
      "converter.apicurio.registry.find-latest": "true",
      "converter.apicurio.registry.as-confluent": "true",
      "converter.apicurio.registry.id-handler": "io.apicurio.registry.serde.Legacy4ByteIdHandler",
      "converter.apicurio.registry.use-id": "contentId",
      "converter.apicurio.registry.headers.enabled": "false",
    }),
    ...avroNames,
  };
}

/** Names of fields and schemas that Avro and Protobuf refuse are changed by the connector. */
const avroNames: ConnectorConfig = { "schema.name.adjustment.mode": "avro", "field.name.adjustment.mode": "avro" };

function both(settings: ConnectorConfig): ConnectorConfig {
  const entries = Object.entries(settings);
  return Object.fromEntries(["key", "value"].flatMap((side) => entries.map(([name, value]) => [`${side}.${name}`, value])));
}
