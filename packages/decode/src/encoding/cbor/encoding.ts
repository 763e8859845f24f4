import type { PlainEncoding } from "../schema-encoding.ts";
import { readCbor } from "./reader.ts";

/** CBOR, which nothing but a tag that few writers set tells from other formats: read where the user names it for a topic. */
export const cbor: PlainEncoding = { name: "cbor", parse: readCbor };
