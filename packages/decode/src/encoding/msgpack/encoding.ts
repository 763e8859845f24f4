import type { PlainEncoding } from "../schema-encoding.ts";
import { readMessagePack } from "./reader.ts";

/** MessagePack, which nothing in its bytes tells from other formats: read where the user names it for a topic. */
export const messagePack: PlainEncoding = { name: "msgpack", parse: readMessagePack };
