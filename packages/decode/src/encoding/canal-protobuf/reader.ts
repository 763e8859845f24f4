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
/** What an entry costs beside the bytes in it, in nanoseconds or so, with the event that is made of it; and each row and column of it. */
const entryCost = 4_500;
const rowCost = 500;
const columnCost = 400;
const minBytes = 1_048_576;
/** What an entry stores may cost what so many bytes may: it is one of many, and a packet of them costs no more than one message. */
const minStoredBytes = 64;
/** Reading rows is half of what they cost: the other half is what is made of them. */
const storedShare = 0.6;

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
  let cost = messages.length * entryCost;
  checkCost(cost, end - start, limits);
  const entries = messages.map((entry) => {
    const opened = openEntry(entry, readers);
    cost += costOfRows(opened);
    checkCost(cost, end - start, limits);
    return opened;
  });
  return { [messagesName]: { batchId, entries } };
}

interface Entry {
  readonly header: unknown;
  readonly entryType: number;
  readonly storeValue: Buffer | null;
}

interface OpenedEntry {
  readonly header: unknown;
  readonly entryType: number;
  readonly rowChange?: {
    readonly rowDatas: readonly { readonly beforeColumns: readonly unknown[]; readonly afterColumns: readonly unknown[] }[];
  };
}

function openEntry({ header, entryType, storeValue }: Entry, readers: Readers): OpenedEntry {
  const kind = stored.get(entryType);
  const opened = kind === undefined || storeValue === null ? {} : { [kind]: readers[kind].read(storeValue, 0, storeValue.length) };
  return { header, entryType, ...opened };
}

function costOfRows({ rowChange }: OpenedEntry): number {
  const rows = rowChange?.rowDatas ?? [];
  return rows.reduce((sum, { beforeColumns, afterColumns }) => {
    return sum + rowCost + (beforeColumns.length + afterColumns.length) * columnCost;
  }, 0);
}

function checkCost(cost: number, byteLength: number, { maxCostPerByte }: ResolvedLimits): void {
  if (cost > maxCostPerByte * Math.max(byteLength, minBytes)) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a packet of Canal whose entries, rows and columns cost at most ${maxCostPerByte} ns for each of its bytes, found more; ` +
        "raise limits.maxCostPerByte if it may",
    );
  }
}

function readersFor(limits: ResolvedLimits): Readers {
  let readers = readersByLimits.get(limits);
  if (readers === undefined) {
    const parsed = protobuf.parse({ id: "canal.protocol", schemaType: "PROTOBUF", schema: canalSchema }, limitDefaults); // the user bounds messages
    const options: CompileOptions = { values: valueDefaults, limits, plan: readEverything, codeGeneration: codeGenerationAllowed() };
    const maxCostPerByte = Math.ceil(limits.maxCostPerByte * storedShare);
    const ofEntries = { ...options, limits: { ...limits, maxCostPerByte }, minMeteredBytes: minStoredBytes };
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
