import type { Shape } from "../envelope.ts";

const messageName = "com.pingcap.simple.avro.Message";

/**
 * Recognises TiCDC's simple protocol, as JSON or as its own Avro record. TiCDC's schema file is a union of that record and of all records
 * inside of it.
 */
export function recogniseTicdcSimple({ fields, typeName, unionNames = [] }: Shape): string | null {
  if (typeName === messageName) {
    return `schema named ${typeName}`;
  }
  if (unionNames.includes(messageName)) {
    return `the record ${messageName} in the schema's union`;
  }
  const isSimple = fields !== null && ["version", "type", "commitTs", "buildTs"].every((name) => fields.includes(name));
  return isSimple ? "fields version, type, commitTs and buildTs" : null;
}
