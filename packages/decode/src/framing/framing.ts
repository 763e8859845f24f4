import type { RecordHeaders } from "../record.ts";

export type Side = "key" | "value";

/** One way in which a message names its schema. `name` is what an event says, or what an error calls a framing that is not read yet. */
export interface Framing {
  readonly name: string;
  /** What in the bytes or headers says that it is this framing, or null. Never throws. */
  recognise(bytes: Uint8Array, start: number, end: number, headers: RecordHeaders, side: Side): string | null;
}
