import type { Decoder, DecoderOptions, KafkaRecord } from "@cdckit/decode";
import { jsonPeer } from "./json-peer.ts";

/** Reads a record with another library too. What that one says otherwise although it is right there; null where there is nothing. */
export type Peer = (record: KafkaRecord) => string | null;

/** The peers of messages that are read with these options. */
export type PeersOf = (options: DecoderOptions, decoderFor: (options: DecoderOptions) => Decoder) => readonly Peer[];

/** avsc generates code as soon as it is loaded, protobufjs when it reads: where that is forbidden there is `JSON.parse` alone. */
export async function loadPeers(): Promise<PeersOf> {
  try {
    await import("avsc"); // by itself first: through a module of ours, the error would come a second time, and to nobody
    const [{ avroPeer }, { protobufPeer }] = await Promise.all([import("./avro-peer.ts"), import("./protobuf-peer.ts")]);
    return ({ schemas }, decoderFor) => {
      const json = jsonPeer(decoderFor);
      return schemas === undefined ? [json] : [json, avroPeer(schemas, decoderFor), protobufPeer(schemas, decoderFor)];
    };
  } catch (error) {
    if (!(error instanceof EvalError)) {
      throw error;
    }
    return (_, decoderFor) => [jsonPeer(decoderFor)];
  }
}
