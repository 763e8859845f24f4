import type { Shape } from "../envelope.ts";

/** The one field of Canal's binary messages after they are read. */
export const messagesName = "com.alibaba.otter.canal.protocol.Messages";

/** Recognises Canal's flat message and its binary message. */
export function recogniseCanal({ fields }: Shape): string | null {
  if (fields?.length === 1 && fields[0] === messagesName) {
    return `the message ${messagesName}`;
  }
  const isCanal = fields !== null && ["isDdl", "type", "database", "table", "data"].every((name) => fields.includes(name));
  return isCanal ? "fields isDdl, type, database, table and data" : null;
}
