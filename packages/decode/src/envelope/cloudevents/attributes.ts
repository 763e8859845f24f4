import { isUtf8 } from "node:buffer";
import type { RecordHeaders } from "../../record.ts";
import { setProperty } from "../../set-property.ts";
import { isBlock } from "../source.ts";
import { isStructured } from "./recognise.ts";

type Block = Readonly<Record<string, unknown>>;

/** A CloudEvent that was sent in either mode. */
export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** All attributes, by their own names. */
  readonly attributes: Block;
  readonly data: unknown;
}

/** The event of a value in structured mode; null if its attributes are not text. */
export function structuredEvent(value: unknown, data: unknown): CloudEvent | null {
  if (!isBlock(value) || !isStructured(Object.keys(value))) {
    return null;
  }
  const attributes: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (name !== "data" && name !== "data_base64") {
      setProperty(attributes, name, value[name]);
    }
  }
  return eventOf(attributes, data);
}

/** The event of a value in binary mode: it is the data, and the headers are the attributes. */
export function binaryEvent(value: unknown, headers: RecordHeaders): CloudEvent | null {
  const attributes: Record<string, unknown> = {};
  for (const [name, bytes] of headers) {
    if (name.startsWith("ce_") && bytes !== null && isUtf8(bytes)) {
      setProperty(attributes, name.slice("ce_".length), Buffer.from(bytes).toString("utf8"));
    }
  }
  return eventOf(attributes, value);
}

function eventOf(attributes: Block, data: unknown): CloudEvent | null {
  const { specversion, id, source, type } = attributes;
  const isEvent =
    typeof specversion === "string" &&
    /^\d\.\d$/.test(specversion) &&
    typeof id === "string" &&
    typeof source === "string" &&
    typeof type === "string";
  return isEvent ? { id, source, type, attributes, data } : null;
}
