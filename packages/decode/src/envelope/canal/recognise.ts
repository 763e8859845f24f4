import type { Shape } from "../envelope.ts";

/** Canal's flat message. */
export function recogniseCanal({ fields }: Shape): string | null {
  const isCanal = fields !== null && ["isDdl", "type", "database", "table", "data"].every((name) => fields.includes(name));
  return isCanal ? "fields isDdl, type, database, table and data" : null;
}
