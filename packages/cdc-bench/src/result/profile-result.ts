import type { Frame, ProfileArea } from "./profile-frame.ts";

/** The CPU profile of what was measured, as a result keeps it. */
export interface ProfileResult {
  /** The flame graph, an SVG. */
  readonly flameGraphFile: string;
  /** What V8 recorded, whole: Chrome's and Speedscope's viewers open it. */
  readonly cpuProfileFile: string;
  /** The configuration under which it was recorded, in one line. */
  readonly subtitle: string;
  readonly samplingIntervalUs: number;
  /** Whose work it is: that of the main thread, or that of all workers together. */
  readonly threads: "main" | "workers";
  readonly areas: readonly AreaTime[];
  /** Functions that took less than a thousandth of the time are left out. */
  readonly root: Frame;
}

/** Time in functions of an area themselves, without what they called. */
export interface AreaTime {
  readonly area: ProfileArea;
  readonly selfUs: number;
  /** 0 to 1. */
  readonly share: number;
}
