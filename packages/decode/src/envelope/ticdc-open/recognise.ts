import type { Shape } from "../envelope.ts";

/** Recognises documents of the open protocol. Other documents may have the same names, so `open` also requires the protocol's framing. */
export function recogniseTicdcOpen({ fields }: Shape): string | null {
  if (fields === null) {
    return null;
  }
  const isRow = fields.length > 0 && fields.every((name) => name === "u" || name === "p" || name === "d");
  const isDdl = fields.length === 2 && fields.includes("q") && fields.includes("t");
  if (fields.length === 0) {
    return "an empty document";
  }
  return isRow || isDdl ? `exactly the fields ${fields.join(" and ")}` : null;
}
