import type { CdcEvent, Operation, TableName } from "../../event.ts";
import { Truncate, UnknownValue } from "../control-events.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { checkEventCount } from "../event-count.ts";
import { millisOf } from "../instant-text.ts";
import { namesOf } from "../row-key.ts";
import { isBlock } from "../source.ts";
import {
  type Block,
  type Column,
  isOfTransaction,
  messageEvent,
  rowEvent,
  tableOf,
  tableSource,
  TransactionBlock,
  transactionId,
  TransactionSource,
} from "./row-events.ts";

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["insert", "create"],
  ["update", "update"],
  ["delete", "delete"],
]);

const changeMembers: ReadonlySet<string> = new Set(
  (
    "kind schema table columnnames columntypes columntypeoids columnvalues columnpositions columndefaults columnoptionals oldkeys pk " +
    "transactional prefix content"
  ).split(" "),
);

/**
 * Opens a message of format 1, which holds a whole transaction. Null if the list does not hold changes, or if it is empty and nothing else
 * shows that the message is a transaction.
 */
export function openTransaction(changes: readonly unknown[], transaction: Block, origin: Origin): readonly CdcEvent[] | null {
  if (!changes.every(isChange) || (changes.length === 0 && !isOfTransaction(transaction))) {
    return null;
  }
  checkEventCount(changes.length + countTables(changes as readonly Block[]), origin); // each change is a block
  const id = transactionId(transaction);
  const source = new TransactionSource(transaction);
  const tsMs = millisOf(transaction["timestamp"]);
  let last: Common | null = null;
  return (changes as readonly Block[]).map((one, i) => {
    // Changes of one table often follow each other, so they share the table and the source fields.
    if (last === null || last.table.schema !== (one["schema"] ?? undefined) || last.table.name !== one["table"]) {
      const table = tableOf(one);
      last = { table, source, tableSource: tableSource(source, table), tsMs };
    }
    const extra = extraOf(one, changeMembers);
    return changeEvent(one, last, id === null ? null : new TransactionBlock(id, i + 1), extra === null ? origin : origin.withExtra(extra));
  });
}

/** Whether an item is a change. Newer versions may have kinds that are unknown here, but those have a table too. */
function isChange(one: unknown): boolean {
  if (!isBlock(one)) {
    return false;
  }
  return one["kind"] === "message"
    ? typeof one["prefix"] === "string"
    : typeof one["kind"] === "string" && typeof one["table"] === "string";
}

/**
 * How often the table differs from that of the change before. The shared parts are made again each time, which costs about as much as an
 * event.
 */
function countTables(changes: readonly Block[]): number {
  let count = 0;
  for (let i = 1; i < changes.length; i++) {
    count += changes[i]?.["table"] === changes[i - 1]?.["table"] ? 0 : 1;
  }
  return count;
}

/** The parts that consecutive changes of one table in a transaction share. */
interface Common {
  readonly table: TableName;
  readonly source: Block;
  readonly tableSource: Block;
  readonly tsMs: number | null;
}

function changeEvent(change: Block, common: Common, position: Block | null, origin: Origin): CdcEvent {
  const { table, source, tsMs } = common;
  const op = operations.get(change["kind"]);
  if (op !== undefined) {
    const columns = columnsIn(change, "columnnames", "columntypes", "columnvalues");
    const { oldkeys, pk } = change;
    const identity = isBlock(oldkeys) ? columnsIn(oldkeys, "keynames", "keytypes", "keyvalues") : null;
    const primaryKey = isBlock(pk) ? namesOf(pk["pknames"]) : null;
    return rowEvent({ op, table, columns, identity, primaryKey }, common.tableSource, position, tsMs, origin);
  }
  if (change["kind"] === "truncate") {
    return new Truncate(table, { source: common.tableSource, transaction: position, ts_ms: tsMs }, origin);
  }
  return change["kind"] === "message" && typeof change["prefix"] === "string"
    ? messageEvent(change["prefix"], change["content"], { ...source, transactional: change["transactional"] ?? null }, tsMs, origin)
    : new UnknownValue(change, origin);
}

/** The columns of three parallel lists: names, types and values. */
function columnsIn(block: Block, names: string, types: string, values: string): readonly Column[] | null {
  const [nameList, typeList, valueList] = [block[names], block[types], block[values]];
  if (!Array.isArray(nameList)) {
    return null;
  }
  return nameList.map((name: unknown, i) => ({
    name,
    type: Array.isArray(typeList) ? (typeList[i] ?? null) : null,
    value: Array.isArray(valueList) ? (valueList[i] ?? null) : null,
  }));
}
