import type { Explain } from "../twin-error.ts";
import { costBudget } from "./cost.ts";
import type { Cursor } from "./cursor.ts";

/** Reads a payload in place. The payload must end exactly at `end`. */
export type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

/** Reads the message from `p` to `e`. `d` is how deep it is nested. */
export type ReadMessage = (b: Uint8Array, p: number, e: number, d: number) => unknown;

/** Makes a reader of one payload. It saves and restores the cursor's budget, because a conversion may read another message on the way. */
export function whole(read: ReadMessage, at: Cursor, depth: number, explain: Explain = asItIs): ReadPayload {
  return (b, start, end) => {
    const { cost, maxCost, keys } = at;
    at.cost = 0;
    at.maxCost = costBudget(at, end - start);
    at.keys = null;
    try {
      return read(b, start, end, depth);
    } catch (error) {
      throw explain(error, b, start, end);
    } finally {
      at.cost = cost;
      at.maxCost = maxCost;
      at.keys = keys;
    }
  };
}

function asItIs(error: unknown): unknown {
  return error;
}
