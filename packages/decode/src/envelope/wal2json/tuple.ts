import type { CdcEvent, Operation } from "../../event.ts";
import { TransactionBoundary, Truncate } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { scalarText } from "../source.ts";
import {
  type Block,
  columnsOf,
  isOfTransaction,
  messageEvent,
  rowEvent,
  tableOf,
  tableSource,
  TransactionBlock,
  transactionId,
  TransactionSource,
} from "./row-events.ts";
import { isOwnWithoutRow } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["I", "create"],
  ["U", "update"],
  ["D", "delete"],
]);

/** Opens a message of format 2, which holds one row, or the begin or end of a transaction. Null if the values do not fit this format. */
export function openTuple(value: Block, origin: Origin): readonly CdcEvent[] | null {
  const { action } = value;
  const tsMs = millisOf(value["timestamp"]);
  const op = operations.get(action);
  if (op !== undefined) {
    return openRow(op, value, tsMs, origin);
  }
  switch (action) {
    case "B":
    case "C": {
      if (!isOfTransaction(value) && tsMs === null) {
        return null; // a row whose only column has the name `action`
      }
      const block = { id: transactionId(value) ?? "", ts_ms: tsMs, source: new TransactionSource(value) };
      return listWith(new TransactionBoundary(action === "B" ? "begin" : "end", block, origin));
    }
    case "T": {
      const table = tableOf(value);
      return table.name === "" || !isOwnWithoutRow(value)
        ? null
        : listWith(new Truncate(table, { source: tableSource(new TransactionSource(value), table), ts_ms: tsMs }, origin));
    }
    case "M":
      return typeof value["prefix"] === "string" && isOwnWithoutRow(value)
        ? listWith(messageEvent(value["prefix"], value["content"], new TransactionSource(value), tsMs, origin))
        : null;
    default:
      return null;
  }
}

function openRow(op: Operation, value: Block, tsMs: number | null, origin: Origin): readonly CdcEvent[] | null {
  const columns = columnsOf(value["columns"]);
  const identity = columnsOf(value["identity"]);
  const table = tableOf(value);
  if (table.name === "" || (op === "delete" ? identity : columns) === null) {
    return null;
  }
  const pk = columnsOf(value["pk"]);
  const primaryKey = pk === null ? null : pk.map(({ name }) => scalarText(name) ?? "");
  const id = transactionId(value);
  const source = tableSource(new TransactionSource(value), table);
  return listWith(
    rowEvent({ op, table, columns, identity, primaryKey }, source, id === null ? null : new TransactionBlock(id), tsMs, origin),
  );
}
