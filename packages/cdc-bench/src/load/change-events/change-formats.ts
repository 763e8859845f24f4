import type { ChangeFormat } from "./change-format.ts";
import { type ChangeFormatName, changeFormatName, changeFormatNames } from "./format-names.ts";
import { confluentAvro } from "./formats/confluent-avro.ts";
import { confluentJsonSchema } from "./formats/confluent-json-schema.ts";
import { confluentProtobuf } from "./formats/confluent-protobuf.ts";
import { json } from "./formats/json.ts";
import { jsonWithSchema } from "./formats/json-with-schema.ts";

const formats: Readonly<Record<ChangeFormatName, ChangeFormat>> = {
  "json-with-schema": jsonWithSchema,
  json,
  "confluent-json-schema": confluentJsonSchema,
  "confluent-avro": confluentAvro,
  "confluent-protobuf": confluentProtobuf,
};

/** Every format in which change events can be written, the largest first. */
export const changeFormats: readonly ChangeFormat[] = changeFormatNames.map((name) => formats[name]);

/** The format of this name, also of a short one (`avro`), or undefined. */
export function changeFormat(name: string): ChangeFormat | undefined {
  const fullName = changeFormatName(name);
  return fullName === undefined ? undefined : formats[fullName];
}
