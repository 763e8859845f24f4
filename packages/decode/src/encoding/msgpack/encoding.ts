import type { PlainEncoding } from "../schema-encoding.ts";
import { readMessagePack } from "./reader.ts";

/** MessagePack. A topic must name it, because nothing in its bytes distinguishes it from other formats. */
export const messagePack: PlainEncoding = { name: "msgpack", parse: readMessagePack };
