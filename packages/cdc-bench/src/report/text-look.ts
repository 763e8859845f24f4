import type { TextStyle } from "./text-style.ts";

/** How text looks where it is read. */
export interface TextLook {
  /**
   * How parts of the text are marked for a terminal.
   * @default without colors
   */
  readonly style?: TextStyle;
  /** How wide running text may be; tables are as wide as they are. @default no limit */
  readonly columns?: number;
}
