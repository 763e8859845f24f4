import type { CdcEvent, Operation, TableName } from "../../event.ts";
import { Truncate, UnknownValue } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { checkEventCount } from "../event-count.ts";
import { millisOf } from "../instant-text.ts";
import { namesOf } from "../row-key.ts";
import { isBlock } from "../source.ts";
import { type Block, type Column, messageEvent, rowEvent, tableOf, tableSource, transactionId, transactionSource } from "./row-events.ts";

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["insert", "create"],
  ["update", "update"],
  ["delete", "delete"],
]);

/** Format 1: a whole transaction in one message. Null where the list does not hold changes. */
export function openTransaction(changes: readonly unknown[], transaction: Block, origin: Origin): readonly CdcEvent[] | null {
  if (!changes.every((one) => isBlock(one) && typeof one["kind"] === "string")) {
    return null;
  }
  checkEventCount(changes.length, origin);
  const id = transactionId(transaction);
  const source = transactionSource(transaction);
  const tsMs = millisOf(transaction["timestamp"]);
  let last: Common | null = null;
  return (changes as readonly Block[]).map((one, i) => {
    // Changes of one table follow each other: they share what says so.
    if (last === null || last.table.schema !== (one["schema"] ?? undefined) || last.table.name !== one["table"]) {
      const table = tableOf(one);
      last = { table, source, tableSource: tableSource(source, table), tsMs };
    }
    return changeEvent(one, last, id === null ? null : { id, total_order: i + 1 }, origin);
  });
}

/** What changes of a transaction to one table share. */
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

/** Three lists side by side: names, types and values. */
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
