import type { Shape } from "../envelope.ts";

/** The one field of Canal's binary messages after they are read. */
export const messagesName = "com.alibaba.otter.canal.protocol.Messages";

/**
 * Recognises Canal's flat message and its binary message. Flink CDC writes flat messages too, with names of key columns, but without a
 * member that tells DDL from rows, because it writes rows alone.
 */
export function recogniseCanal({ fields }: Shape): string | null {
  if (fields?.length === 1 && fields[0] === messagesName) {
    return `the message ${messagesName}`;
  }
  if (fields === null || !["type", "database", "table", "data"].every((name) => fields.includes(name))) {
    return null;
  }
  const more = ["isDdl", "pkNames"].find((name) => fields.includes(name));
  return more === undefined ? null : `fields ${more}, type, database, table and data`;
}
