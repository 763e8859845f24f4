import type { CdcEvent, Columns, TableName } from "../../event.ts";
import { isDecodeError } from "../../errors.ts";
import { DocumentChange, documentValue, updateDescriptionOf } from "../document-change.ts";
import type { EnvelopeScope } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import type { Change } from "./change.ts";
import { operationOf } from "./operation.ts";

/** The change of a MongoDB document. Documents are text in Extended JSON, in both images and in the key's `id`. */
export function openMongodbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { scope } = origin;
  const operation = operationOf(op);
  const before = imageOf(change["before"], scope);
  const after = imageOf(change["after"], scope);
  if (operation === null || before === undefined || after === undefined) {
    return null;
  }
  const { source, transaction, ts_ms } = change; // the event must not keep the texts of the documents
  const updated = updateDescriptionOf(change["updateDescription"], scope);
  return [new DocumentChange(operation, table, before, after, { source, transaction, ts_ms }, updated, withDocumentKey(origin))];
}

/** The document's columns, null if no document was sent, or undefined if the image is not a document. */
function imageOf(image: unknown, scope: EnvelopeScope): Columns | null | undefined {
  const document = image === null || image === undefined ? null : documentValue(image, scope);
  return document === null || isBlock(document) ? document : undefined;
}

/**
 * The origin with a parsed key. The key's one field is text in Extended JSON too: `{"id":"{\"$oid\":\"...\"}"}`. An id that is not JSON
 * comes from another writer and stays as it is.
 */
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
