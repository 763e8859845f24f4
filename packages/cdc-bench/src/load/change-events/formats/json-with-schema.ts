import type { ChangeFormat } from "../change-format.ts";
import { type ConnectSchema, connectEnvelopeSchema, connectKeySchema } from "../connect-schema.ts";
import { envelopeText, keyText } from "./payload-text.ts";

/** Connect's JSON converter with `schemas.enable=true`, its default: each message carries its schema. */
export const jsonWithSchema: ChangeFormat = {
  name: "json-with-schema",
  title: "JSON with schema",
  schemas: () => [],
  createEncoder(source) {
    const [keyHead, valueHead] = [connectKeySchema(source), connectEnvelopeSchema(source)].map(headOf) as [Buffer, Buffer];
    return {
      key: (key) => closed(keyHead, keyText(key)),
      value: (envelope) => closed(valueHead, envelopeText(envelope)),
    };
  },
};

function headOf(schema: ConnectSchema): Buffer {
  return Buffer.from(`{"schema":${JSON.stringify(schema)},"payload":`);
}

/** The schema is copied as bytes: as text it would be encoded again for each message. */
function closed(head: Buffer, payload: string): Buffer {
  const size = head.length + Buffer.byteLength(payload) + 1;
  const bytes = Buffer.allocUnsafe(size);
  head.copy(bytes);
  bytes.write(payload, head.length);
  bytes[size - 1] = 0x7d;
  return bytes;
}
