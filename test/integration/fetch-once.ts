import { connect } from "node:net";

/** What one Fetch response holds of the partition. */
export interface FetchedOnce {
  readonly bytes: Buffer;
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];
  readonly highWatermark: bigint;
  readonly lastStableOffset: bigint;
}

const fetchKey = 1;
const fetchVersion = 10; // the first in which a broker hands out zstd
const readCommitted = 1;

/** Fetches committed records of partition 0 once, with at most so many bytes, by a request of this test's own. */
export async function fetchOnce(brokers: string, topic: string, fromOffset: bigint, maxBytes: number): Promise<FetchedOnce> {
  const [host = "", port = ""] = brokers.split(":");
  const socket = connect(Number(port), host);
  try {
    socket.write(requestOf(topic, fromOffset, maxBytes));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer); // a socket without an encoding gives buffers
      const answer = Buffer.concat(chunks);
      if (answer.length >= 4 && answer.length >= 4 + answer.readInt32BE(0)) {
        return responseOf(answer);
      }
    }
    throw new Error("the broker has ended the connection");
  } finally {
    socket.destroy();
  }
}

/** https://kafka.apache.org/protocol#The_Messages_Fetch */
function requestOf(topic: string, fromOffset: bigint, maxBytes: number): Buffer {
  const name = Buffer.from(topic);
  const parts = [int16(fetchKey), int16(fetchVersion), int32(1), int16(-1)]; // correlation id, no client id
  parts.push(int32(-1), int32(100), int32(1), int32(maxBytes), Buffer.from([readCommitted])); // replica, max wait, min bytes
  parts.push(int32(0), int32(-1)); // no session
  parts.push(int32(1), int16(name.length), name, int32(1), int32(0), int32(-1), int64(fromOffset), int64(-1n), int32(maxBytes));
  parts.push(int32(0)); // no topics to forget
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length), body]);
}

function responseOf(answer: Buffer): FetchedOnce {
  let at = 22; // size, correlation id, throttle time, error, session, number of topics
  at += 2 + answer.readInt16BE(at) + 4; // name, number of partitions
  const errorCode = answer.readInt16BE(at + 4);
  if (errorCode !== 0) {
    throw new Error(`the broker answers with error ${errorCode}`);
  }
  const highWatermark = answer.readBigInt64BE(at + 6);
  const lastStableOffset = answer.readBigInt64BE(at + 14);
  const count = Math.max(0, answer.readInt32BE(at + 30)); // the start of the log stands before it
  at += 34;
  const abortedTransactions = Array.from({ length: count }, (_, i) => ({
    producerId: answer.readBigInt64BE(at + 16 * i),
    firstOffset: answer.readBigInt64BE(at + 16 * i + 8),
  }));
  at += 16 * count;
  const bytes = answer.subarray(at + 4, at + 4 + Math.max(0, answer.readInt32BE(at)));
  return { bytes, abortedTransactions, highWatermark, lastStableOffset };
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
