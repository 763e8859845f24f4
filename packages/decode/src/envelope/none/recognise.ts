import type { Shape } from "../envelope.ts";

/** Any record is a row if no envelope was recognised. */
export function recogniseRow({ fields }: Shape): string | null {
  return fields === null ? "a value that is no record" : "no envelope's fields: a plain row";
}
