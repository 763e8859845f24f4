import type { Shape } from "../envelope.ts";

/** TiCDC's simple protocol, as JSON or as its own Avro record. */
export function recogniseTicdcSimple({ fields, typeName }: Shape): string | null {
  if (typeName === "com.pingcap.simple.avro.Message") {
    return `schema named ${typeName}`;
  }
  const isSimple = fields !== null && ["version", "type", "commitTs", "buildTs"].every((name) => fields.includes(name));
  return isSimple ? "fields version, type, commitTs and buildTs" : null;
}
