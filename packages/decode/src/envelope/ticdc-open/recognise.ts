import type { Shape } from "../envelope.ts";

/** Documents as the open protocol has them. Only its framing makes them its own, which `open` looks at. */
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
