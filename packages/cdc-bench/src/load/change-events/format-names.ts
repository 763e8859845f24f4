/** The formats in which change events can be written, the largest first. Apart from the formats, which load codecs. */
export const changeFormatNames = ["json-with-schema", "json", "confluent-json-schema", "confluent-avro", "confluent-protobuf"] as const;

export type ChangeFormatName = (typeof changeFormatNames)[number];

/** What people type for short. */
const shortNames: Readonly<Record<string, ChangeFormatName>> = {
  avro: "confluent-avro",
  protobuf: "confluent-protobuf",
  "json-schema": "confluent-json-schema",
};

/** The whole name of a format, also of a short one; undefined if there is no such format. */
export function changeFormatName(name: string): ChangeFormatName | undefined {
  return changeFormatNames.find((each) => each === name) ?? (Object.hasOwn(shortNames, name) ? shortNames[name] : undefined);
}
