import type { Reading } from "../encoding/opening.ts";
import type { Pending } from "./pending.ts";
import type { SideRoute } from "./route.ts";

/**
 * The result of reading one side of a record. Each side decoder has one result and fills it in again at every read. A caller must take what
 * it needs from the result before the next read.
 */
export class SideResult implements Reading<SideRoute> {
  /** The value. {@link SeveralValues} if there are several, or none. */
  value: unknown = null;
  route: SideRoute;
  /** What must be loaded before the side is read again. `value` and `route` have no meaning then. Null if it was read. */
  pending: Pending | null = null;

  constructor(route: SideRoute) {
    this.route = route;
  }

  begin(): void {
    this.pending = null;
  }

  wait(pending: Pending): this {
    this.pending = pending;
    return this;
  }

  one(value: unknown, route: SideRoute): this {
    this.value = value;
    this.route = route;
    return this;
  }

  several(values: SeveralValues): this {
    this.value = values;
    return this;
  }

  /** Returns the value and clears it. Without clearing, a topic that falls silent would keep its last batch in memory. */
  take(): unknown {
    const { value } = this;
    this.value = null;
    return value;
  }
}

/** The values of a record that holds several, in their order. */
export class SeveralValues {
  readonly values: readonly unknown[];
  /** How many bytes they were read from. For packed values, the unpacked bytes. */
  readonly byteLength: number;

  constructor(values: readonly unknown[], byteLength: number) {
    this.values = values;
    this.byteLength = byteLength;
  }
}
