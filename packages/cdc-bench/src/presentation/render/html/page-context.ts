import type { LineChart } from "../../document.ts";

/** What the parts of one page share: ids that no other part has, and what its script has to bring to life. */
export interface PageContext {
  readonly nextId: (kind: string) => string;
  /** Time series that the page's script makes zoomable, by the id of their figure. */
  readonly timeSeries: Map<string, LineChart>;
}

export function createPageContext(): PageContext {
  let ids = 0;
  return { nextId: (kind) => `${kind}-${++ids}`, timeSeries: new Map() };
}
