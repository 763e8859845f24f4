import type { Frame, Framing, Message, Payload } from "../framing.ts";
import { lastHeaderText } from "../last-header.ts";

/*
 * Azure Schema Registry's serializers for Kafka name a schema by 32 hexadecimal digits:
 *
 *   Avro           header "content-type": avro/binary+<id>, the message is the payload
 *   JSON           header "schemaId": <id>, the message is the payload
 *   Kafka Streams  N: one byte | the N bytes that the header would hold | payload
 *   first beta     00 00 00 00 | <id> | payload
 */

const contentTypePrefix = "avro/binary+";
const idLength = 32;
const zeros = 4;
const contentTypeLength = contentTypePrefix.length + idLength;

/**
 * Azure's framing in headers. It is used for values only: the same header serves the whole record, so that it says nothing about the key.
 */
export const azureHeader: Framing = {
  name: "azure",
  headerNames: ["content-type", "schemaId"],
  recognise: (message) => headerEvidence(message)?.evidence ?? null,
  open: (message) => {
    const { bytes, start, end } = message;
    const { id, isAmbiguous } = headerEvidence(message) ?? { id: "", isAmbiguous: true };
    return { ...frame(id, { bytes, start, end, count: 1 }), isAmbiguous };
  },
};

/** Azure's framings before the payload. */
export const azure: Framing = {
  name: "azure",
  headerNames: [],
  recognise: (message) => prefixEvidence(message)?.evidence ?? null,
  open: (message) => {
    const { bytes, start, end } = message;
    const { id, length } = prefixEvidence(message) ?? { id: "", length: 0 };
    return frame(id, { bytes, start: start + length, end, count: 1 });
  },
  prefixes: [Buffer.from(String.fromCharCode(contentTypeLength) + contentTypePrefix), Buffer.of(idLength), Buffer.alloc(zeros)],
};

interface Named {
  readonly evidence: string;
  readonly id: string;
}

function frame(id: string, payload: Payload): Frame {
  return { schemaId: `azure:${id}`, payloads: [payload] };
}

/** The evidence in the headers. It is ambiguous for `schemaId`, because other producers may use a header of that name. */
function headerEvidence({ headers, side }: Message): (Named & { readonly isAmbiguous: boolean }) | null {
  if (side === "key") {
    return null;
  }
  const contentType = lastHeaderText(headers, "content-type");
  if (contentType?.startsWith(contentTypePrefix)) {
    const id = idOf(contentType.slice(contentTypePrefix.length));
    return id === null ? null : { evidence: `header content-type is ${contentTypePrefix} and the id ${id}`, id, isAmbiguous: false };
  }
  const id = idOf(lastHeaderText(headers, "schemaId"));
  return id === null ? null : { evidence: `header schemaId is ${id}`, id, isAmbiguous: true };
}

function prefixEvidence({ bytes, start, end }: Message): (Named & { readonly length: number }) | null {
  switch (bytes[start]) {
    case contentTypeLength: {
      const isAvro = standsAt(bytes, start + 1, end, contentTypePrefix);
      const id = isAvro ? idAt(bytes, start + 1 + contentTypePrefix.length, end) : null;
      return id === null ? null : { evidence: `the content type ${contentTypePrefix} and the id ${id}`, id, length: 1 + contentTypeLength };
    }
    case idLength: {
      const isJson = start + 1 + idLength < end && startsJson(bytes[start + 1 + idLength]);
      const id = isJson ? idAt(bytes, start + 1, end) : null;
      return id === null ? null : { evidence: `the length 32, then the id ${id} and JSON`, id, length: 1 + idLength };
    }
    case 0: {
      const isBeta = bytes[start + 1] === 0 && bytes[start + 2] === 0 && bytes[start + 3] === 0;
      const id = isBeta ? idAt(bytes, start + zeros, end) : null;
      return id === null ? null : { evidence: `four bytes 00, then the id ${id}`, id, length: zeros + idLength };
    }
    default:
      return null;
  }
}

function standsAt(bytes: Buffer, at: number, end: number, text: string): boolean {
  return at + text.length <= end && bytes.toString("latin1", at, at + text.length) === text;
}

function idAt(bytes: Buffer, at: number, end: number): string | null {
  return at + idLength <= end ? idOf(bytes.toString("latin1", at, at + idLength)) : null;
}

function idOf(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : null;
}

function startsJson(byte: number | undefined): boolean {
  return byte === 0x7b || byte === 0x5b;
}
