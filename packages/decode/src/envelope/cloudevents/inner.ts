import type { MemberText } from "../envelope.ts";
import { isBlock, textOrNull } from "../source.ts";
import { isStructured } from "./recognise.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * The message inside of a CloudEvent. Debezium's converter writes Avro data as bytes, or as base64 text if the event itself is JSON. JSON
 * data is a message of its own, with or without a schema. It is read like any other message, from its own text, so that its columns get the
 * same types and conversions. Data of an event that has a schema is typed already.
 */
export function innerMessage(value: unknown, textOf: MemberText): Uint8Array | null {
  if (!isBlock(value) || !isStructured(Object.keys(value))) {
    return null;
  }
  const { data, data_base64 } = value;
  if (Buffer.isBuffer(data)) {
    return data.length === 0 ? null : data;
  }
  if (isBlock(data)) {
    return isMessage(data) ? textOf("data") : null;
  }
  const contentType = textOrNull(value["datacontenttype"]) ?? "";
  const isReadable = /avro|json/i.test(contentType);
  const text = typeof data === "string" && /avro/i.test(contentType) ? data : data_base64;
  return isReadable && typeof text === "string" && text !== "" ? Buffer.from(text, "base64") : null;
}

function isMessage(data: Block): boolean {
  const { before, after } = data;
  const hasImages = (before !== undefined || after !== undefined) && isImage(before) && isImage(after);
  return hasImages || (Object.hasOwn(data, "schema") && Object.hasOwn(data, "payload"));
}

/** Whether it can be the image of a row, or a document as text. A payload of an application may have anything under these names. */
function isImage(image: unknown): boolean {
  return image === undefined || image === null || typeof image === "string" || isBlock(image);
}
