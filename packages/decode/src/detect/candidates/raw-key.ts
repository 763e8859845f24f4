import { isUtf8 } from "node:buffer";
import { rawRoute } from "../route.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";

const firstOfText = 0x20;

/** Keys that no other candidate reads: text or bytes. There is no such candidate for values, because an unknown value is an error. */
export function rawKey({ engine, result }: SideTools): Candidate {
  const { limits } = engine;
  const { text, bytes } = engine.formats.raw;
  const routes = new Map([text, bytes].map((encoding) => [encoding, rawRoute(engine, encoding.name)]));
  return {
    read: ({ bytes: source, start, end, declined }) => {
      // Most frames begin with a control character. Numbers and hashes may as well, but text does not.
      const isBinary = declined !== null && (source[start] as number) < firstOfText;
      const encoding = !isBinary && isUtf8(source.subarray(start, end)) ? text : bytes;
      return result.one(encoding.parse(source, start, end, limits), routes.get(encoding) ?? result.route);
    },
  };
}
