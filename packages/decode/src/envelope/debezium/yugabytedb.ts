import type { CdcEvent, KeyChange, TableName } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { isCell, withoutCells } from "./cells.ts";
import { type Change, isImage, openChange } from "./change.ts";
import { operationOf } from "./operation.ts";
import { listWith } from "../../list-with.ts";

/**
 * The events of a YugabyteDB record. The gRPC connector wraps each column, in images and keys, unless its transformation PGCompatible has
 * removed the wrappers.
 */
export function openYugabytedbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { before: wrappedBefore = null, after: wrappedAfter = null, ...declared } = change; // the event must not keep the wrappers
  const before = unwrapped(wrappedBefore);
  const after = unwrapped(wrappedAfter);
  const key = unwrapped(origin.key);
  const keyed = key === origin.key ? origin : origin.withKey(key);
  const operation = operationOf(op);
  return operation !== null && isImage(before) && isImage(after)
    ? listWith(new YugabytedbChange(operation, table, before, after, declared, keyed))
    : openChange(op, declared, before, after, table, keyed);
}

/** A change whose other key, in the headers of a key change, may be wrapped. */
class YugabytedbChange extends EnvelopedChange {
  override get keyChange(): KeyChange | null {
    const change = super.keyChange;
    return change === null ? null : { ...change, key: unwrapped(change.key) as KeyChange["key"] }; // a block of columns stays one
  }

  override copy(): YugabytedbChange {
    const { op, table, before, after, sourceFields, origin } = this;
    return new YugabytedbChange(op, table, before, after, sourceFields, origin);
  }
}

/**
 * The row without wrappers. A column that was not sent is null and has no wrapper, so a row counts as wrapped if all of its other columns
 * are.
 */
function unwrapped(image: unknown): unknown {
  if (!isBlock(image) || Buffer.isBuffer(image)) {
    return image;
  }
  const sent = Object.values(image).filter((column) => column !== null);
  return sent.length > 0 && sent.every(isCell) ? withoutCells(image) : image;
}
