import type { Place } from "@cdckit/driver";
import { byTopic } from "./by-topic.ts";

/** What a member tells the leader of the group. */
export interface MemberSubscription {
  readonly topics: readonly string[];
  /** The partitions that it holds. */
  readonly owned: readonly Place[];
  /** The generation in which it got them; -1 if it does not say. */
  readonly generation: number;
}

const subscriptionVersion = 2;
const assignmentVersion = 0;
const ownedFrom = 1;
const generationFrom = 2;

/** ConsumerProtocolSubscription: version topics user_data owned_partitions generation_id. Later versions add to the end. */
export function writeSubscription({ topics, owned, generation }: MemberSubscription): Buffer {
  return Buffer.concat([
    int16(subscriptionVersion),
    int32(topics.length),
    ...topics.flatMap(text),
    int32(-1), // user data: null
    ...writePlaces(owned),
    int32(generation),
  ]);
}

/** Reads a subscription of any version. Throws a RangeError if it is cut. */
export function readSubscription(bytes: Buffer): MemberSubscription {
  const reader = new BytesReader(bytes);
  const version = reader.int16();
  const topics = reader.list(() => reader.text());
  const userData = reader.int32();
  reader.skip(Math.max(0, userData));
  const owned = version >= ownedFrom && !reader.isAtEnd ? readPlaces(reader) : [];
  const generation = version >= generationFrom && !reader.isAtEnd ? reader.int32() : -1;
  return { topics, owned, generation };
}

/** ConsumerProtocolAssignment: version partitions user_data. */
export function writeAssignment(places: readonly Place[]): Buffer {
  return Buffer.concat([int16(assignmentVersion), ...writePlaces(places), int32(-1)]);
}

/** Reads an assignment. No bytes are no partitions. Throws a RangeError if it is cut. */
export function readAssignment(bytes: Buffer): readonly Place[] {
  if (bytes.length === 0) {
    return [];
  }
  const reader = new BytesReader(bytes);
  reader.int16();
  return readPlaces(reader);
}

function writePlaces(places: readonly Place[]): readonly Buffer[] {
  const topics = byTopic(places);
  return [
    int32(topics.length),
    ...topics.flatMap(({ name, partitions }) => [...text(name), int32(partitions.length), ...partitions.map((one) => int32(one))]),
  ];
}

function readPlaces(reader: BytesReader): readonly Place[] {
  return reader
    .list(() => {
      const topic = reader.text();
      return reader.list(() => ({ topic, partition: reader.int32() }));
    })
    .flat();
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

function text(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value);
  return [int16(bytes.length), bytes];
}

class BytesReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  text(): string {
    const length = this.int16();
    this.skip(length);
    return this.#bytes.toString("utf8", this.#at - length, this.#at);
  }

  /** Ends with an error at the end of the bytes, whatever length the list claims to have. */
  list<T>(read: () => T): readonly T[] {
    const all: T[] = [];
    for (let count = this.int32(); count > 0; count--) {
      all.push(read());
    }
    return all;
  }

  skip(bytes: number): void {
    if (bytes < 0 || this.#at + bytes > this.#bytes.length) {
      throw new RangeError("a member of the group has sent a subscription or an assignment that is cut");
    }
    this.#at += bytes;
  }
}
