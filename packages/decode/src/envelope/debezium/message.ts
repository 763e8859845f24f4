import { DecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import type { BinaryHandling } from "../../options.ts";
import { LogicalMessage } from "../control-events.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import type { Change } from "./change.ts";
import { topicOption } from "../../topic-option.ts";
import { listWith } from "../../list-with.ts";

const members: ReadonlySet<string> = new Set(["prefix", "content"]);

/** The event of a message that was written into PostgreSQL's log; null if the member `message` is not one. */
export function openMessage(change: Change, origin: Origin): readonly CdcEvent[] | null {
  const { message } = change;
  if (!isBlock(message) || typeof message["prefix"] !== "string") {
    return null;
  }
  const { prefix, content = null } = message;
  if (content !== null && typeof content !== "string" && !Buffer.isBuffer(content)) {
    return null;
  }
  const extra = extraOf(message, members);
  const kept = extra === null ? origin : origin.withExtra({ message: extra });
  const { binaryHandling } = origin.scope;
  const read = typeof content === "string" && binaryHandling !== null ? bytesOf(content, binaryHandling) : content;
  return listWith(new LogicalMessage({ ...change, message: { prefix, content: read } }, kept));
}

/** The text form of bytes in each of Debezium's modes. In the mode `bytes`, Connect's JsonConverter makes the text. */
const modes: Readonly<Record<BinaryHandling, { readonly spelled: RegExp; readonly encoding: BufferEncoding }>> = {
  bytes: { spelled: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, encoding: "base64" },
  base64: { spelled: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, encoding: "base64" },
  "base64-url-safe": { spelled: /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?$/, encoding: "base64url" },
  hex: { spelled: /^(?:[0-9A-Fa-f]{2})*$/, encoding: "hex" },
};

/** The bytes of a text. Text in another form is an error, because `Buffer.from` would silently drop characters that it does not know. */
function bytesOf(text: string, mode: BinaryHandling): Buffer {
  const { spelled, encoding } = modes[mode];
  if (!spelled.test(text)) {
    throw new DecodeError(
      "value-invalid",
      `expected the content of a logical message in the form of binary.handling.mode ${mode}, found other text; check ${topicOption("binaryHandling")}`,
    );
  }
  return Buffer.from(text, encoding);
}
