import { DecodeError } from "../../errors.ts";
import type { RecordHeaders } from "../../record.ts";
import type { Framing, Side } from "../framing.ts";

const longFrameLength = 9;

/**
 * Apicurio's own framings: the id in a header, or `00 | id: int64, big-endian | payload`. Recognised so that the error can name them; the
 * four-byte form is Confluent's.
 */
export const apicurio: Framing = {
  name: "apicurio",
  headerNames: ["key", "value"].flatMap((side) =>
    ["globalId", "contentId", "artifactId", "contentHash"].map((id) => `apicurio.${side}.${id}`),
  ),
  recognise: ({ bytes, start, end, headers, side }) => headerEvidence(headers, side) ?? longIdEvidence(bytes, start, end),
  open: () => {
    throw new DecodeError(
      "unsupported-format",
      "expected Confluent framing, plain JSON or JSON with schema, found Apicurio's own framing, which is not supported yet: " +
        "set apicurio.registry.as-confluent=true, headers.enabled=false and use-id=contentId on the converter",
    );
  },
};

function headerEvidence(headers: RecordHeaders, side: Side): string | null {
  const prefix = `apicurio.${side}.`;
  for (const [name] of headers) {
    if (
      name === `${prefix}globalId` ||
      name === `${prefix}contentId` ||
      name === `${prefix}artifactId` ||
      name === `${prefix}contentHash`
    ) {
      return `header ${name}`;
    }
  }
  return null;
}

function longIdEvidence(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start <= longFrameLength) {
    return null;
  }
  for (let i = 0; i < 5; i++) {
    if (bytes[start + i] !== 0) {
      return null;
    }
  }
  for (let i = 5; i < longFrameLength; i++) {
    if (bytes[start + i] !== 0) {
      return "byte 0 is 00, then an 8-byte id whose upper half is zero, where Confluent's ids begin at 1";
    }
  }
  return null; // no id is 0: a nil UUID, most likely
}
