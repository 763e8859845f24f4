import { recogniseCanal } from "../canal/recognise.ts";
import type { Shape } from "../envelope.ts";

/** Recognises Canal's flat message with TiDB's extension. */
export function recogniseTicdcCanalJson(shape: Shape): string | null {
  const evidence = recogniseCanal(shape);
  return evidence !== null && shape.fields?.includes("_tidb") === true ? `${evidence}, and TiDB's extension _tidb` : null;
}
