import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";

/** One way in which a side may be written. The candidates of a side are asked in order. The first one that reads the message wins. */
export interface Candidate {
  /**
   * Reads the message. Null if it is not written in this way: the next candidate is asked. Throws a `DecodeError` if it is written in this
   * way but cannot be read.
   */
  read(message: SideMessage): SideResult | null;
}
