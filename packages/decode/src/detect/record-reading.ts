import type { RecordCursor } from "../record.ts";
import type { Failures, Outcome } from "./pending.ts";
import type { SideRoute } from "./route.ts";
import type { ReadRequest } from "./side-message.ts";

/** How far a record on the slow path was read. */
export class RecordReading implements ReadRequest {
  readonly cursor: RecordCursor;
  readonly failed: Failures | null;
  /**
   * Whether the columns that are read are a guess. The record is read again if they are not the wanted ones, or if it does not decode: so a value
   * that contradicts what was learned is an error then, and does not decide how other columns are read.
   */
  readonly isGuess: boolean;
  outcome: Outcome = [];
  key: unknown = null;
  keyRoute: SideRoute;
  valueRoute: SideRoute;
  /** The route of the rows. If the value holds a message inside, the route of that message. */
  rowRoute: SideRoute;

  constructor(cursor: RecordCursor, failed: Failures | null, noRoute: SideRoute, isGuess: boolean) {
    this.cursor = cursor;
    this.failed = failed;
    this.isGuess = isGuess;
    this.keyRoute = noRoute;
    this.valueRoute = noRoute;
    this.rowRoute = noRoute;
  }
}
