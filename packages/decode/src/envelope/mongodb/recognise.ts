import type { Shape } from "../envelope.ts";

/** Recognises MongoDB's change stream documents, as JSON or as text. */
export function recogniseMongodb({ fields, isText }: Shape): string | null {
  if (isText) {
    return "text, which may hold a change stream document";
  }
  if (fields === null || !fields.includes("operationType")) {
    return null;
  }
  const other = ["ns", "documentKey", "clusterTime"].find((name) => fields.includes(name));
  return other === undefined ? null : `fields operationType and ${other}`;
}
