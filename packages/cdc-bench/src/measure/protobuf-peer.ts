import protobuf from "protobufjs";
import type { Peer, SchemaLookup } from "./peer.ts";

/** What files of Confluent's converter import, as far as reading needs it. */
const decimalFile =
  'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }';

/** protobufjs on messages in Confluent's framing. Reads the first message of a file, which is what Kafka Connect writes. */
export function protobufPeer(schemaOf: SchemaLookup): Peer {
  const types = new Map<number, protobuf.Type>();
  const typeOf = (id: number): protobuf.Type => {
    const found = types.get(id) ?? firstMessage(schemaOf(id), id);
    types.set(id, found);
    return found;
  };
  const read = (bytes: Uint8Array | null): unknown => {
    if (bytes === null) {
      return null;
    }
    const buffer = bytes as Buffer;
    if (buffer[5] !== 0) {
      throw new Error("protobufjs is measured on the first message of a file alone");
    }
    return typeOf(buffer.readInt32BE(1)).decode(buffer.subarray(6));
  };
  return {
    name: "protobufjs",
    read(record) {
      read(record.key);
      const envelope = read(record.value) as { readonly op?: unknown; readonly before?: unknown; readonly after?: unknown } | null;
      void envelope?.op;
      void envelope?.before;
      void envelope?.after;
    },
  };
}

function firstMessage(text: string | undefined, id: number): protobuf.Type {
  if (text === undefined) {
    throw new Error(`the schema ${id} is not at hand`);
  }
  const root = new protobuf.Root();
  protobuf.parse(decimalFile, root, { keepCase: true });
  const before = new Set(root.nestedArray);
  const { package: packageName } = protobuf.parse(text, root, { keepCase: true });
  const scope = packageName === undefined || packageName === null ? root : root.lookup(packageName);
  const messages = (scope instanceof protobuf.Namespace ? scope.nestedArray : []).filter(
    (nested): nested is protobuf.Type => nested instanceof protobuf.Type && !before.has(nested),
  );
  const [first] = messages;
  if (first === undefined) {
    throw new Error(`the schema ${id} has no message`);
  }
  root.resolveAll();
  return first;
}
