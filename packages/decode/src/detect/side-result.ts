import type { Reading } from "../encoding/opening.ts";
import type { Pending } from "./pending.ts";
import type { SideRoute } from "./route.ts";

/**
 * What reading one side of a record ended in. Each side decoder has one, which every read fills in again: whoever needs it longer than
 * until the next read takes what it needs.
 */
export class SideResult implements Reading<SideRoute> {
  /** `"pending"`: what `pending` says must be loaded before the side can be read, and `value` and `route` say nothing. */
  status: "one" | "several" | "pending" = "one";
  /** The value; {@link SeveralValues} if there are several, or none. */
  value: unknown = null;
  /** How it was read. */
  route: SideRoute;
  pending: Pending | null = null;

  constructor(route: SideRoute) {
    this.route = route;
  }

  begin(): void {
    this.status = "one";
    this.pending = null;
  }

  wait(pending: Pending): this {
    this.status = "pending";
    this.pending = pending;
    return this;
  }

  one(value: unknown, route: SideRoute): this {
    this.value = value;
    this.route = route;
    return this;
  }

  several(values: SeveralValues): this {
    this.status = "several";
    this.value = values;
    return this;
  }

  /** The value, which the result lets go of: a topic that falls silent must not keep its last batch. */
  take(): unknown {
    const { value } = this;
    this.value = null;
    return value;
  }
}

/** The values of a record that holds several, in their order. */
export class SeveralValues {
  readonly values: readonly unknown[];
  /** How many bytes they were read from, unpacked if the record held them packed. */
  readonly byteLength: number;

  constructor(values: readonly unknown[], byteLength: number) {
    this.values = values;
    this.byteLength = byteLength;
  }
}
