import type { PlainEncoding } from "../schema-encoding.ts";
import { readCbor } from "./reader.ts";

/** CBOR. A topic must name it, because only a tag that few writers set distinguishes it from other formats. */
export const cbor: PlainEncoding = { name: "cbor", parse: readCbor };
