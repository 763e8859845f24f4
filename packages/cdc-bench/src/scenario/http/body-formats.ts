import type { Codec } from "../../codec/codec.ts";
import { avroContainerCodec, avroHeadlessCodec } from "../../codec/codecs/avro.ts";
import { jsonCodec } from "../../codec/codecs/json.ts";
import type { Row } from "../../codec/data-sets.ts";
import { list, type RecordShape } from "../../codec/shape.ts";

/** A form in which an API answers, and takes bodies. */
export interface BodyFormat {
  readonly format: FormatName;
  readonly mediaType: string;
  readonly codec: Codec<readonly Row[]>;
}

export type FormatName = "json" | "avro" | "avro-headless";

/** By format, its media type. `application/avro` is a container file with its schema, `avro/binary` the rows alone. */
export const mediaTypes: Readonly<Record<FormatName, string>> = {
  json: "application/json",
  avro: "application/avro",
  "avro-headless": "avro/binary",
};

/** The forms of lists of these rows. */
export function bodyFormats(shape: RecordShape): readonly BodyFormat[] {
  return [
    { format: "json", mediaType: mediaTypes.json, codec: jsonCodec<readonly Row[]>() },
    { format: "avro", mediaType: mediaTypes.avro, codec: avroContainerCodec<Row>(shape, "null") },
    { format: "avro-headless", mediaType: mediaTypes["avro-headless"], codec: avroHeadlessCodec<readonly Row[]>(list(shape)) },
  ];
}
