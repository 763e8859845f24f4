import type { TopicHints } from "@cdckit/decode";
import type { Codec, ReadingCodec } from "./codec.ts";
import { avroContainerCodec, avroHeadlessCodec, containerCompressions } from "./codecs/avro.ts";
import { cborCodec, messagePackCodec } from "./codecs/binary-json.ts";
import { cdckitRowReader, cdckitRowsReader } from "./codecs/cdckit.ts";
import { compressed, compressions, gzip } from "./codecs/compressed.ts";
import { jsonSchemaCodec } from "./codecs/json-schema.ts";
import { jsonCodec } from "./codecs/json.ts";
import { protobufCodec } from "./codecs/protobuf.ts";
import type { Row } from "./data-sets.ts";
import { avroSchemaOf, list, protoFileOf, record, type RecordShape, type Shape } from "./shape.ts";

/** Codecs of one value: those that write come before those that read their bytes. */
export type Codecs<T> = readonly (Codec<T> | ReadingCodec<T>)[];

/** Codecs of single rows. */
export function rowCodecs(shape: RecordShape): Codecs<Row> {
  const protobuf = protobufCodec<Row>(shape);
  const headless = avroHeadlessCodec<Row>(shape);
  const [msgpack, cbor] = [messagePackCodec<Row>(), cborCodec<Row>()];
  const avroHint: TopicHints = { value: { schema: { schemaType: "AVRO", schema: JSON.stringify(avroSchemaOf(shape)) } } };
  return [
    ...jsonCodecs<Row>(shape),
    headless,
    cdckitRowReader("avro, headless (cdckit reads)", headless.name, avroHint),
    ...(protobuf === null ? [] : [protobuf, cdckitRowReader("protobuf (cdckit reads)", protobuf.name, protobufHint(shape))]),
    msgpack,
    cdckitRowReader("msgpack (cdckit reads)", msgpack.name, { value: { encoding: "msgpack" } }),
    cbor,
    cdckitRowReader("cbor (cdckit reads)", cbor.name, { value: { encoding: "cbor" } }),
  ];
}

/** Codecs of a whole list of rows. */
export function listCodecs(shape: RecordShape): Codecs<readonly Row[]> {
  const container = containerCompressions.map((compression) => avroContainerCodec<Row>(shape, compression));
  const protobuf = protobufCodec<{ readonly rows: readonly Row[] }>(record(`${shape.name}List`, { rows: list(shape) }));
  return [
    ...jsonCodecs<readonly Row[]>(list(shape)),
    avroHeadlessCodec(list(shape)),
    ...container.flatMap((codec) => [codec, cdckitRowsReader(codec.name.replace("(avsc)", "(cdckit reads)"), codec.name, {})]),
    ...container.slice(0, 1).map((codec) => compressed(codec, gzip)),
    ...(protobuf === null ? [] : [rowsOf(protobuf)]),
    messagePackCodec(),
    cborCodec(),
  ];
}

function jsonCodecs<T>(shape: Shape): Codecs<T> {
  const json = jsonCodec<T>();
  return [json, ...compressions.map((compression) => compressed(json, compression)), jsonSchemaCodec<T>(shape)];
}

/** Protobuf has no list at the top: the rows are the one field of a message. */
function rowsOf(codec: Codec<{ readonly rows: readonly Row[] }>): Codec<readonly Row[]> {
  return {
    name: codec.name,
    serialize: (rows) => codec.serialize({ rows }),
    deserialize(bytes) {
      const message = codec.deserialize(bytes);
      return message instanceof Promise ? message.then(({ rows }) => rows) : message.rows;
    },
  };
}

function protobufHint(shape: RecordShape): TopicHints {
  return { value: { schema: { schemaType: "PROTOBUF", schema: protoFileOf(shape) ?? "" }, message: shape.name } };
}
