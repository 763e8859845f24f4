import { type ChangeFormat, textBetween } from "../change-format.ts";
import { type ConnectSchema, connectEnvelopeSchema, connectKeySchema } from "../connect-schema.ts";
import { envelopeText, keyText } from "./payload-text.ts";

const tail = Buffer.from("}");

/** Connect's JSON converter with `schemas.enable=true`, its default: each message carries its schema. */
export const jsonWithSchema: ChangeFormat = {
  name: "json-with-schema",
  title: "JSON with schema",
  schemas: () => [],
  createEncoder(source, _ids, takeBytes = Buffer.allocUnsafe) {
    const [keyHead, valueHead] = [connectKeySchema(source), connectEnvelopeSchema(source)].map(headOf) as [Buffer, Buffer];
    return {
      key: (key) => textBetween(keyHead, keyText(key), tail, takeBytes),
      value: (envelope) => textBetween(valueHead, envelopeText(envelope), tail, takeBytes),
    };
  },
};

function headOf(schema: ConnectSchema): Buffer {
  return Buffer.from(`{"schema":${JSON.stringify(schema)},"payload":`);
}
