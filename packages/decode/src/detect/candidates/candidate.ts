import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";

/** One way in which a side may be written. The candidates of a side are asked in their order, and the first that reads the message wins. */
export interface Candidate {
  /**
   * Reads the message; null if it is not written so, and the next candidate is to be asked. Throws a `DecodeError` if it is written so and
   * cannot be read.
   */
  read(message: SideMessage): SideResult | null;
}
