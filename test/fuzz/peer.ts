import type { Decoder, DecoderOptions, KafkaRecord } from "@cdckit/decode";
import { avroPeer } from "./avro-peer.ts";
import { jsonPeer } from "./json-peer.ts";
import { protobufPeer } from "./protobuf-peer.ts";

/** Reads a record with another library too. What that one says otherwise although it is right there; null where there is nothing. */
export type Peer = (record: KafkaRecord) => string | null;

/** The peers of messages that are read with these options. */
export function peersOf({ schemas }: DecoderOptions, decoderFor: (options: DecoderOptions) => Decoder): readonly Peer[] {
  const json = jsonPeer(decoderFor);
  return schemas === undefined ? [json] : [json, avroPeer(schemas, decoderFor), protobufPeer(schemas, decoderFor)];
}
