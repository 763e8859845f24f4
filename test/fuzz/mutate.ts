import type { KafkaRecord, RecordHeaders, RegisteredSchema } from "@cdckit/decode";
import { type Anatomy, type Edit, type Part, withEdits } from "./anatomy.ts";
import { avroAnatomy } from "./avro-anatomy.ts";
import { byteMutations } from "./byte-mutations.ts";
import type { Pool, Seed } from "./corpus.ts";
import { jsonAnatomy } from "./json-anatomy.ts";
import { plainAnatomy } from "./plain-anatomy.ts";
import { protobufAnatomy } from "./protobuf-anatomy.ts";
import type { Random } from "./random.ts";

/** Makes other messages of the seeds of one pool. */
export class Mutator {
  readonly #pool: Pool;
  readonly #all: readonly Pool[];
  readonly #anatomies = new Map<Seed, Anatomy | null>();

  /** `all` are the pools that parts of other formats are taken from. */
  constructor(pool: Pool, all: readonly Pool[]) {
    this.#pool = pool;
    this.#all = all;
  }

  /** Most seeds are ones that decode: what cannot be read at first seldom becomes readable. */
  pick(random: Random): Seed {
    const { recorded, written } = this.#pool;
    const from = recorded.length > 0 && (written.length === 0 || random.chance(0.5)) ? recorded : written;
    const first = random.pick(from);
    return first.isDecodable || random.chance(0.2) ? first : random.pick(from);
  }

  mutated(seed: Seed, random: Random): KafkaRecord {
    const { record } = seed;
    if (record.value === null || (record.key !== null && random.chance(0.08))) {
      return this.#withOtherKey(seed, random);
    }
    const roll = random.below(100);
    if (roll < 62) {
      return { ...record, value: this.#edited(seed, random) };
    }
    if (roll < 84) {
      return { ...record, value: this.#mangled(Buffer.from(record.value), random) };
    }
    if (roll < 90) {
      return { ...record, value: reframed(Buffer.from(record.value), Buffer.from(this.#other(random).record.value ?? []), random) };
    }
    return roll < 95 ? this.#withOtherHeaders(record, random) : this.#handedOver(record, random);
  }

  /** Values, names, items and fields in the places of others, lengths and counts right again most times. */
  #edited(seed: Seed, random: Random): Buffer {
    const bytes = Buffer.from(seed.record.value ?? []);
    const anatomy = this.#anatomyOf(seed, bytes);
    if (anatomy === null || anatomy.parts.length === 0) {
      return this.#mangled(bytes, random);
    }
    const edits: Edit[] = [];
    for (let times = 1 + (random.chance(0.3) ? random.below(4) : 0); times > 0; times--) {
      const edit = editOf(anatomy, bytes, random);
      if (edits.every(({ part }) => part.end <= edit.part.start || edit.part.end <= part.start)) {
        edits.push(edit);
      }
    }
    return withEdits(bytes, edits, random.chance(0.93));
  }

  #mangled(bytes: Buffer, random: Random): Buffer {
    const other = Buffer.from(this.#other(random).record.value ?? []);
    let changed = bytes;
    for (let times = 1 + (random.chance(0.2) ? random.below(3) : 0); times > 0; times--) {
      changed = random.pick(byteMutations)(changed, random, other);
    }
    return changed;
  }

  #withOtherKey({ record }: Seed, random: Random): KafkaRecord {
    const other = this.#other(random).record;
    const key = Buffer.from(record.key ?? other.key ?? []);
    if (random.chance(0.3)) {
      return { ...record, key: random.chance(0.5) ? numberLikeFrame(key, random) : reframed(key, Buffer.from(other.key ?? []), random) };
    }
    return { ...record, key: random.chance(0.7) ? this.#mangled(key, random) : random.chance(0.5) ? other.key : other.value };
  }

  #withOtherHeaders(record: KafkaRecord, random: Random): KafkaRecord {
    const headers = [...record.headers];
    const at = random.below(headers.length + 1);
    const [name, value] = headers[at] ?? [random.pick(headerNames), null];
    const bytes = random.chance(0.3) ? random.pick(headerValues) : this.#mangled(Buffer.from(value ?? random.pick(headerValues)), random);
    const changed: RecordHeaders[number] = [random.chance(0.8) ? name : random.pick(headerNames), random.chance(0.9) ? bytes : null];
    headers.splice(at, random.below(2), ...(random.chance(0.85) ? [changed] : []));
    return { ...record, headers };
  }

  /** Another message, of this format or of another, on this one's topic. */
  #handedOver(record: KafkaRecord, random: Random): KafkaRecord {
    const other = random.chance(0.5) ? this.#other(random).record : this.pick(random).record;
    return random.chance(0.5)
      ? { ...record, value: other.value, headers: other.headers }
      : { ...other, topic: record.topic, key: random.chance(0.5) ? record.key : other.key };
  }

  #other(random: Random): Seed {
    const { recorded, written } = random.chance(0.5) ? this.#pool : random.pick(this.#all);
    const seeds = recorded.length > 0 && (written.length === 0 || random.chance(0.5)) ? recorded : written;
    return random.pick(seeds);
  }

  #anatomyOf(seed: Seed, bytes: Buffer): Anatomy | null {
    let anatomy = this.#anatomies.get(seed);
    if (anatomy === undefined) {
      anatomy = anatomyOf(this.#pool.encoding, bytes, seed);
      this.#anatomies.set(seed, anatomy);
    }
    return anatomy;
  }
}

function editOf({ parts, edge, similar }: Anatomy, bytes: Buffer, random: Random): Edit {
  const part = random.pick(parts);
  if (similar !== undefined && random.chance(0.35)) {
    return { part, put: similar(part, random, bytes) };
  }
  const found = bytes.subarray(part.start, part.end);
  const roll = random.below(100);
  if (isRepeatable(part) && roll < 60) {
    return roll < 25 ? { part, put: Buffer.alloc(0), more: -1 } : { part, put: twice(part, found), more: 1 };
  }
  if (roll < 75) {
    return { part, put: edge(part, random, bytes) };
  }
  // What stands elsewhere in the message and is of the same kind.
  const other = random.pick(parts);
  return other.kind === part.kind ? { part, put: bytes.subarray(other.start, other.end) } : { part, put: edge(part, random, bytes) };
}

function isRepeatable({ kind, countedBy }: Part): boolean {
  return countedBy !== null || kind === "member" || kind === "field";
}

/** A member that stands alone has no comma to share. */
function twice({ kind }: Part, found: Buffer): Buffer {
  const comma = 0x2c;
  return kind === "member" && found[0] !== comma && found.at(-1) !== comma
    ? Buffer.concat([found, Buffer.from(","), found])
    : Buffer.concat([found, found]);
}

/** The bytes in front of the value: magic, ids, lengths, indexes; or another message's. */
function reframed(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  const length = random.pick([1, 5, 5, 6, 9, 10, 17, 18]);
  switch (random.below(4)) {
    case 0:
      changed[random.below(Math.max(1, Math.min(length, changed.length)))] = random.below(256);
      return changed;
    case 1:
      return Buffer.concat([other.subarray(0, length), bytes.subarray(length)]);
    case 2:
      return Buffer.concat([random.pick(marks), bytes]);
    default:
      return Buffer.concat([random.pick(marks), bytes.subarray(length)]);
  }
}

/** A long or a UUID as Kafka's serializers write them, which begins as a framed key does: with an id that is known, or one that is not. */
function numberLikeFrame(key: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(Array.from({ length: random.pick([8, 8, 16]) }, () => random.below(256)));
  key.copy(bytes, 0, 0, 5);
  bytes[0] = 0;
  if (random.chance(0.5)) {
    bytes.writeUInt32BE(random.below(300), 1);
  }
  return bytes;
}

const marks: readonly Buffer[] = [
  ...["00", "0000000001", "0000000001ff", "01", `01${"ab".repeat(16)}`, "000000000000000001", "c301", "c3010000000000000000", "4f626a01"],
  ...[`0300${"ab".repeat(16)}`, `0305${"ab".repeat(16)}`, `0305${"ab".repeat(16)}789c`, "efbbbf", "20", "1f8b08", "0000000000000001", ""],
].map((hex) => Buffer.from(hex, "hex"));

const headerNames: readonly string[] = (
  "__value_schema_id __key_schema_id apicurio.value.globalId apicurio.value.contentId apicurio.value.contentHash apicurio.key.globalId " +
  "apicurio.value.encoding apicurio.value.artifactId apicurio.value.groupId apicurio.value.version apicurio.value.schema content-type schemaId " +
  "__debezium.newkey __debezium.oldkey __debezium.context.connectorName __op __deleted __table id ce_specversion ce_type ce_source ce_id " +
  "ce_dataschema operation changeSequence __proto__ buf.registry.value.schema.commit buf.registry.value.schema.message"
).split(" ");

const headerValues: readonly Buffer[] = [
  ...[
    "",
    "d",
    "true",
    "1.0",
    "application/json",
    "application/cloudevents+json",
    "avro/binary+5f0d3b6e1c7a4f2b9d8e7a6b5c4d3e2f",
    '{"id":1}',
    "__proto__",
  ],
  ...['{"schema":{"type":"int32"},"payload":1}', "9".repeat(300), "\u0000".repeat(8), "\u0001".repeat(17), "shop.Order", "null"],
].map((text) => Buffer.from(text));

/** By its pool's encoding, at the first place where the bytes have one that takes them all. */
function anatomyOf(encoding: string, bytes: Buffer, seed: Seed): Anatomy | null {
  switch (encoding) {
    case "avro":
      return firstOf(bytes, (start) => avroAnatomyOf(bytes, start, seed));
    case "protobuf":
    case "canal-protobuf":
      return firstOf(bytes, (start) => (bytes[0] === 0 && start === 5 ? null : protobufAnatomy(bytes, start)));
    case "msgpack":
    case "cbor":
      return plainAnatomy(bytes, encoding);
    default: {
      const start = bytes.findIndex((byte) => byte === 0x7b || byte === 0x5b);
      return mostlyOfPayload(jsonAnatomy(bytes, Math.max(0, start)), bytes);
    }
  }
}

/** Where a message carries its schema, that is most of it, and a change in it is a change of everything: it has its turn one time in eight. */
function mostlyOfPayload(anatomy: Anatomy, bytes: Buffer): Anatomy {
  const at = bytes.includes('"schema":{') ? bytes.lastIndexOf('"payload":') : -1;
  const inside = anatomy.parts.filter(({ start }) => start > at);
  const times = Math.ceil((7 * (anatomy.parts.length - inside.length)) / Math.max(1, inside.length));
  return { ...anatomy, parts: [...anatomy.parts, ...Array.from({ length: at < 0 ? 0 : times }, () => inside).flat()] };
}

function firstOf(bytes: Buffer, anatomyAt: (start: number) => Anatomy | null): Anatomy | null {
  const behindFrames = [5, 6, 7, 8, 9, 10, 17, 18, 19];
  for (const start of bytes[0] === 0 ? [...behindFrames, 0] : [0, ...behindFrames, 1, 2, 3, 4]) {
    const anatomy = start <= bytes.length ? anatomyAt(start) : null;
    if (anatomy !== null && anatomy.parts.length > 0) {
      return anatomy;
    }
  }
  return null;
}

function avroAnatomyOf(bytes: Buffer, start: number, { from, record }: Seed): Anatomy | null {
  const schema = registeredFor(bytes, start, from.options.schemas, record);
  return schema?.schemaType === "AVRO" ? avroAnatomy(bytes, start, schema.schema) : null;
}

function registeredFor(
  bytes: Buffer,
  start: number,
  schemas: Seed["from"]["options"]["schemas"],
  { headers }: KafkaRecord,
): RegisteredSchema | undefined {
  const header = headers.find(([name]) => name.startsWith("apicurio.value."))?.[1];
  const ids = [
    start === 5 ? bytes.readInt32BE(1) : start === 9 ? Number(bytes.readBigInt64BE(1)) : null,
    start === 0 && header?.length === 8 ? Number(Buffer.from(header).readBigInt64BE(0)) : null,
  ];
  const id = ids.find((found) => found !== null);
  return id === undefined || id === null ? undefined : schemas?.peek(id);
}
