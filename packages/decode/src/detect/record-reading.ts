import type { RecordCursor } from "../record.ts";
import type { Failures, Outcome } from "./pending.ts";
import type { SideRoute } from "./route.ts";
import type { ReadRequest } from "./side-message.ts";

/** A record that takes the slow path, as far as it was read. */
export class RecordReading implements ReadRequest {
  readonly cursor: RecordCursor;
  readonly failed: Failures | null;
  outcome: Outcome = [];
  key: unknown = null;
  keyRoute: SideRoute;
  valueRoute: SideRoute;
  /** How the rows of the value were read: those of a message inside of it as that one was. */
  rowRoute: SideRoute;

  constructor(cursor: RecordCursor, failed: Failures | null, noRoute: SideRoute) {
    this.cursor = cursor;
    this.failed = failed;
    this.keyRoute = noRoute;
    this.valueRoute = noRoute;
    this.rowRoute = noRoute;
  }
}
