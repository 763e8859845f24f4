import type { PlainEncoding } from "../schema-encoding.ts";
import { readCanalPacket } from "./reader.ts";

/**
 * Canal's binary messages (`canal.mq.flatMessage = false`): Protobuf without a schema id, by Canal's own schema. Nothing in the bytes tells
 * them from other Protobuf: read where the user names the encoding for a topic.
 */
export const canalProtobuf: PlainEncoding = { name: "canal-protobuf", parse: readCanalPacket };
