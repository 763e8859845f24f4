import { DecodeError } from "../../errors.ts";
import { limitDefaults, type ResolvedLimits, valueDefaults } from "../../options.ts";
import { codeGenerationAllowed } from "../codegen.ts";
import { protobuf } from "../protobuf/encoding.ts";
import { type CompileOptions, type PayloadReader, readEverything } from "../reader.ts";
import { canalSchema } from "./schema.ts";

/** The one name of what is read: no row has a column that is called so. */
export const messagesName = "com.alibaba.otter.canal.protocol.Messages";

/** `PacketType.MESSAGES`: a packet of any other type is talk between Canal's client and server. */
const messagesType = 7;
/** `Compression.NONE`, and what is left out. */
const uncompressed: ReadonlySet<unknown> = new Set([0, 1, null, undefined]);
/** What an entry costs beside the bytes in it, in nanoseconds or so. */
const entryWeight = 3_000;
const leastBytes = 1_048_576;
/** What an entry stores may cost what so many bytes may: it is one of many, and a packet of them costs no more than one message. */
const leastStoredBytes = 64;

/** `EntryType`, and the message that its `storeValue` is. */
const stored: ReadonlyMap<unknown, "transactionBegin" | "rowChange" | "transactionEnd"> = new Map([
  [1, "transactionBegin"],
  [2, "rowChange"],
  [3, "transactionEnd"],
]);

interface Readers {
  readonly packet: PayloadReader;
  readonly rowChange: PayloadReader;
  readonly transactionBegin: PayloadReader;
  readonly transactionEnd: PayloadReader;
}

const readersByLimits = new WeakMap<ResolvedLimits, Readers>();

/**
 * A packet's messages as `{ [messagesName]: { batchId, entries } }`, each entry with its header and what its type says that it stores, by
 * the names of `stored`; null where it stores nothing that is known.
 */
export function readCanalPacket(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown {
  const readers = readersFor(limits);
  const packet = readers.packet.read(bytes, start, end) as Readonly<Record<string, unknown>>; // its type is a record's
  if (packet["type"] !== messagesType) {
    throw new DecodeError("unknown-format", `expected a packet of Canal of type MESSAGES (${messagesType}), found another type`);
  }
  if (!uncompressed.has(packet["compression"])) {
    throw new DecodeError("unsupported-format", "expected a packet of Canal whose body is not compressed, found a compressed one");
  }
  const { batch_id: batchId = null, messages = [] } = (packet["body"] ?? {}) as { batch_id?: unknown; messages?: readonly Entry[] };
  checkCount(messages.length, end - start, limits);
  return { [messagesName]: { batchId, entries: messages.map((entry) => openEntry(entry, readers)) } };
}

interface Entry {
  readonly header: unknown;
  readonly entryType: number;
  readonly storeValue: Buffer | null;
}

function openEntry({ header, entryType, storeValue }: Entry, readers: Readers): object {
  const kind = stored.get(entryType);
  const opened = kind === undefined || storeValue === null ? {} : { [kind]: readers[kind].read(storeValue, 0, storeValue.length) };
  return { header, entryType, ...opened };
}

function checkCount(count: number, byteLength: number, { maxWeightPerByte }: ResolvedLimits): void {
  if (count * entryWeight > maxWeightPerByte * Math.max(byteLength, leastBytes)) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a packet of Canal whose entries cost at most ${maxWeightPerByte} ns for each of its bytes, found ${count} entries; ` +
        "raise limits.maxWeightPerByte if it may",
    );
  }
}

function readersFor(limits: ResolvedLimits): Readers {
  let readers = readersByLimits.get(limits);
  if (readers === undefined) {
    const parsed = protobuf.parse({ id: "canal", schemaType: "PROTOBUF", schema: canalSchema }, limitDefaults); // the user bounds messages
    const options: CompileOptions = { values: valueDefaults, limits, plan: readEverything, codeGeneration: codeGenerationAllowed() };
    const ofEntries = { ...options, leastWeighedBytes: leastStoredBytes };
    const readerOf = (name: string, compile: CompileOptions): PayloadReader =>
      parsed.compile({ kind: "name", name: `canal.${name}` }, compile);
    const transaction = readerOf("Transaction", ofEntries);
    readers = {
      packet: readerOf("Packet", options),
      rowChange: readerOf("RowChange", ofEntries),
      transactionBegin: transaction,
      transactionEnd: transaction,
    };
    readersByLimits.set(limits, readers);
  }
  return readers;
}
