import type { Framing } from "../framing.ts";

/** No framing: the payload is the message. */
export const none: Framing = {
  name: "none",
  headerNames: [],
  recognise: () => "nothing before the payload",
  open: ({ bytes, start, end }) => ({ schemaId: null, payloads: [{ bytes, start, end, count: 1 }] }),
};
