import type { Shape } from "../envelope.ts";

/** What its binary messages are read as: one field of this name, and no other. */
export const messagesName = "com.alibaba.otter.canal.protocol.Messages";

/** Canal's flat message, or its binary one. */
export function recogniseCanal({ fields }: Shape): string | null {
  if (fields?.length === 1 && fields[0] === messagesName) {
    return `the message ${messagesName}`;
  }
  const isCanal = fields !== null && ["isDdl", "type", "database", "table", "data"].every((name) => fields.includes(name));
  return isCanal ? "fields isDdl, type, database, table and data" : null;
}
