import type { SchemaSource } from "@cdckit/decode";
import type { FormatKey } from "../../measure/decode-meter.ts";
import { avscPeer, jsonPeer, type Peer, type SchemaLookup } from "../../measure/peer.ts";
import { protobufPeer } from "../../measure/protobuf-peer.ts";

/** What people decode a format with today. Undefined if nobody else reads it, or if a topic has several formats. */
export function peerFor(formats: readonly FormatKey[], schemas: SchemaSource | undefined): Peer | undefined {
  const [format, ...more] = formats.filter((each) => each !== "tombstone");
  if (format === undefined || more.length > 0) {
    return undefined;
  }
  const { framing, encoding } = format;
  if (framing === "none" && (encoding === "json" || encoding === "connect-json")) {
    return jsonPeer;
  }
  if (framing !== "confluent" || schemas === undefined) {
    return undefined;
  }
  const lookup: SchemaLookup = (id) => schemas.peek(id)?.schema;
  return encoding === "avro" ? avscPeer(lookup) : encoding === "protobuf" ? protobufPeer(lookup) : undefined;
}

/** `avsc` of `avsc, BigInt longs`: in a table the details would take half of the line. */
export function shortName({ name }: Peer): string {
  return name.replace(/[,(].*$/, "");
}
