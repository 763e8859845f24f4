import type { Attack } from "./attacks.ts";
import type { PlainName } from "./vector-seeds.ts";

const mib = 2 ** 20;

/** An attack that is only one where its topic is stated to have this encoding. */
export interface PlainAttack extends Attack {
  readonly encoding: PlainName;
}

/** What is known to cost in MessagePack and CBOR: a MiB of each. */
export function plainAttacks(): readonly PlainAttack[] {
  return [...messagePackAttacks(), ...cborAttacks()];
}

function messagePackAttacks(): PlainAttack[] {
  const list = (item: string): Buffer => counted(0xdd, item);
  const cases: Readonly<Record<string, Buffer>> = {
    "small integers": list("01"),
    nulls: list("c0"),
    "wide integers": list("cfffffffffffffffff"),
    "empty arrays": list("90"),
    "arrays of one": list("9101"),
    "empty maps": list("80"),
    "small maps": list("81a16101"),
    "maps with a key of no text": list("810101"),
    "empty texts": list("a0"),
    "empty byte strings": list("c400"),
    "byte strings of a byte": list("c40100"),
    timestamps: list("d6ff00000001"),
    extensions: list("d40100"),
    "a map of integer keys": counted(0xdf, "cd000101"),
    "arrays in each other": Buffer.alloc(mib, 0x91),
    "arrays in each other that state a million items": Buffer.alloc(mib, Buffer.from("dd000fffff", "hex")),
    "170,000 names": names(170_000, (name) => [name, Buffer.from([1])], 0xdf),
    "objects of other names each": names(150_000, (name) => [Buffer.from([0x81]), name, Buffer.from([1])], 0xdd),
    "a text of a MiB": Buffer.concat([Buffer.from("db00100000", "hex"), Buffer.alloc(mib, "x")]),
  };
  return attacksOf("msgpack", cases);
}

function cborAttacks(): PlainAttack[] {
  const list = (item: string): Buffer => counted(0x9a, item);
  const indefinite = (start: number, item: string): Buffer =>
    Buffer.concat([Buffer.from([start]), Buffer.alloc(mib, Buffer.from(item, "hex")), Buffer.from([0xff])]);
  const cases: Readonly<Record<string, Buffer>> = {
    "small integers": list("01"),
    "half floats": list("f93c00"),
    "empty maps": list("a0"),
    "arrays of indefinite length": list("9fff"),
    "wide integers of a byte": list("c24101"),
    "wide integers of 400 bytes": list(`c2590190${"ff".repeat(400)}`),
    "big floats of hundreds of digits": list("c58239043101"),
    "decimals of thousands of zeros": list("c482393ffe01"),
    dates: list("c101"),
    days: list("d86401"),
    uuids: list(`d82550${"00".repeat(16)}`),
    "text chunks of no bytes": indefinite(0x7f, "60"),
    "byte chunks of no bytes": indefinite(0x5f, "40"),
    "tags in each other": Buffer.alloc(mib, 0xc1),
    "arrays of indefinite length in each other": Buffer.alloc(mib, 0x9f),
    "a map of integer keys": counted(0xba, "19000101"),
  };
  return attacksOf("cbor", cases);
}

function attacksOf(encoding: PlainName, cases: Readonly<Record<string, Buffer>>): PlainAttack[] {
  return Object.entries(cases).map(([name, value]) => ({ name: `${encoding}: ${name}`, value, schemas: null, encoding }));
}

/** A MiB of an item, behind a head that states how many there are in four bytes. */
function counted(head: number, item: string): Buffer {
  const unit = Buffer.from(item, "hex");
  const count = Math.floor(mib / unit.length);
  return Buffer.concat([headOf(head, count), Buffer.alloc(count * unit.length, unit)]);
}

function headOf(head: number, count: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = head;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

/** Names of four characters, none of them twice, as MessagePack writes them. */
function names(count: number, around: (name: Buffer) => readonly Buffer[], head: number): Buffer {
  const parts = Array.from({ length: count }, (_, i) =>
    Buffer.concat(around(Buffer.from(`\xa4${i.toString(36).padStart(4, "0")}`, "latin1"))),
  );
  return Buffer.concat([headOf(head, count), ...parts]);
}
