import type { CdcEvent, Columns, TableName } from "../../event.ts";
import { isDecodeError } from "../../errors.ts";
import { DocumentChange, documentValue, updateDescriptionOf } from "../document-change.ts";
import type { EnvelopeScope } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import type { Change } from "./change.ts";
import { operationOf } from "./operation.ts";

/** Documents are the text of Extended JSON, in both images and in the key's `id`. */
export function openMongodbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { scope } = origin;
  const operation = operationOf(op);
  const before = imageOf(change["before"], scope);
  const after = imageOf(change["after"], scope);
  if (operation === null || before === undefined || after === undefined) {
    return null;
  }
  const { source, transaction, ts_ms } = change; // and not the texts of its documents
  const updated = updateDescriptionOf(change["updateDescription"], scope);
  return [new DocumentChange(operation, table, before, after, { source, transaction, ts_ms }, updated, withDocumentKey(origin))];
}

/** The document's columns, null where none was sent, or undefined where what was sent is no document. */
function imageOf(image: unknown, scope: EnvelopeScope): Columns | null | undefined {
  const document = image === null || image === undefined ? null : documentValue(image, scope);
  return document === null || isBlock(document) ? document : undefined;
}

/** The key's one field holds text too: `{"id":"{\"$oid\":\"...\"}"}`. What is no JSON is an id that something else wrote. */
function withDocumentKey(origin: Origin): Origin {
  const { key, scope } = origin;
  if (!isBlock(key) || typeof key["id"] !== "string") {
    return origin;
  }
  try {
    return origin.withKey({ ...key, id: documentValue(key["id"], scope) });
  } catch (error) {
    if (isDecodeError(error)) {
      return origin;
    }
    throw error;
  }
}
