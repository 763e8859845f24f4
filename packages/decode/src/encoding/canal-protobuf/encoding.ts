import type { PlainEncoding } from "../schema-encoding.ts";
import { readCanalPacket } from "./reader.ts";

/**
 * Canal's binary messages (`canal.mq.flatMessage = false`): Protobuf by Canal's own schema, without a schema id. A topic must name it,
 * because nothing in the bytes distinguishes it from other Protobuf.
 */
export const canalProtobuf: PlainEncoding = { name: "canal-protobuf", parse: readCanalPacket };
