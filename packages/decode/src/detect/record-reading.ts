import type { RecordCursor } from "../record.ts";
import type { Failures, Outcome } from "./pending.ts";
import type { SideRoute } from "./route.ts";
import type { ReadRequest } from "./side-message.ts";

/** How far a record on the slow path was read. */
export class RecordReading implements ReadRequest {
  readonly cursor: RecordCursor;
  readonly failed: Failures | null;
  outcome: Outcome = [];
  key: unknown = null;
  keyRoute: SideRoute;
  valueRoute: SideRoute;
  /** The route of the rows. If the value holds a message inside, the route of that message. */
  rowRoute: SideRoute;

  constructor(cursor: RecordCursor, failed: Failures | null, noRoute: SideRoute) {
    this.cursor = cursor;
    this.failed = failed;
    this.keyRoute = noRoute;
    this.valueRoute = noRoute;
    this.rowRoute = noRoute;
  }
}
