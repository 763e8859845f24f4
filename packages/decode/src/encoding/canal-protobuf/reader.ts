import { DecodeError } from "../../errors.ts";
import { limitDefaults, type ResolvedLimits, valueDefaults } from "../../options.ts";
import { codeGenerationAllowed } from "../codegen.ts";
import { protobuf } from "../protobuf/encoding.ts";
import { type CompileOptions, type PayloadReader, readEverything } from "../reader.ts";
import { canalSchema } from "./schema.ts";

/** The only property of the result. No row has a column with this name. */
export const messagesName = "com.alibaba.otter.canal.protocol.Messages";

/** `PacketType.MESSAGES`. Packets of other types are the protocol between Canal's client and server. */
const messagesType = 7;
/** `Compression.NONE`, and a missing field. */
const uncompressed: ReadonlySet<unknown> = new Set([0, 1, null, undefined]);
/** The cost of an entry with the event that is made of it, in about nanoseconds, without its bytes; and of each row and column in it. */
const entryCost = 4_500;
const rowCost = 500;
const columnCost = 400;
const minBytes = 1_048_576;
/**
 * A stored value has the cost budget of at least this many bytes. It is small, because a packet holds many stored values and may cost no
 * more than one message.
 */
const minStoredBytes = 64;
/** Reading rows is about half of their cost. The other half is making events of them. */
const storedShare = 0.6;

/** Each `EntryType`, with the name of the message that its `storeValue` holds. */
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
 * Reads a packet's messages as `{ [messagesName]: { batchId, entries } }`. Each entry has its header and its stored value under its name in
 * `stored`, or null if its type is unknown.
 */
export function readCanalPacket(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown {
  const readers = readersFor(limits);
  const packet = readers.packet.read(bytes, start, end) as Readonly<Record<string, unknown>>; // the packet's schema is a record
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
      `expected a packet of Canal whose entries, rows and columns cost at most ${maxCostPerByte} ns for each of its bytes, found a higher cost; ` +
        "raise limits.maxCostPerByte if the packet is valid",
    );
  }
}

function readersFor(limits: ResolvedLimits): Readers {
  let readers = readersByLimits.get(limits);
  if (readers === undefined) {
    const parsed = protobuf.parse({ id: "canal.protocol", schemaType: "PROTOBUF", schema: canalSchema }, limitDefaults); // the user's limits are for messages, not for our own schema
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
