import type { CdcEvent, TableName } from "../../event.ts";
import { documentChangeOf } from "../document-change.ts";
import type { Origin } from "../origin.ts";
import type { Change } from "./change.ts";
import { operationOf } from "./operation.ts";
import { listWith } from "../../list-with.ts";

/** The change of a MongoDB document. */
export function openMongodbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const operation = operationOf(op);
  const { source, transaction, ts_ms } = change; // the event must not keep the texts of the documents
  const event = operation === null ? null : documentChangeOf(operation, table, change, { source, transaction, ts_ms }, origin);
  return event === null ? null : listWith(event);
}
