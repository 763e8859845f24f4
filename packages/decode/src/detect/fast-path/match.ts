import type { FastPathMatch } from "../../encoding/fast-path.ts";
import type { Engine } from "../engine.ts";
import type { SideRoute } from "../route.ts";

/** The match that the reader of a route offers. Null if it offers none, or if another framing may claim a message with this prefix. */
export function matchOf({ framing, fastPath }: SideRoute, { formats, framingOrder }: Engine): FastPathMatch | null {
  const own = formats.framings.find(({ name, frameBytesOf }) => name === framing && frameBytesOf !== undefined) ?? null;
  return fastPath !== null && framingOrder.leaves(fastPath, own) ? fastPath : null;
}
