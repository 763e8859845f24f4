import type { CdcEvent, KeyChange, TableName } from "../../event.ts";
import { withoutWrappers } from "../cells.ts";
import { EnvelopedChange } from "../change-event.ts";
import type { Origin } from "../origin.ts";
import { type Change, isImage, openChange } from "./change.ts";
import { operationOf } from "./operation.ts";
import { listWith } from "../../list-with.ts";

/**
 * The events of a YugabyteDB record. Its connectors wrap each column, in images and keys, unless their transformation PGCompatible has removed
 * the wrappers. The one for logical replication does it with the plugin yboutput alone.
 */
export function openYugabytedbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { before: wrappedBefore = null, after: wrappedAfter = null, ...declared } = change; // the event must not keep the wrappers
  const before = withoutWrappers(wrappedBefore);
  const after = withoutWrappers(wrappedAfter);
  const key = withoutWrappers(origin.key);
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
    return change === null ? null : { ...change, key: withoutWrappers(change.key) as KeyChange["key"] }; // a block of columns stays one
  }

  override copy(): YugabytedbChange {
    const { op, table, before, after, sourceFields, origin } = this;
    return new YugabytedbChange(op, table, before, after, sourceFields, origin);
  }
}
