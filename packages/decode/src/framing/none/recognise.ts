import type { Framing } from "../framing.ts";

/** No framing: the payload is the message. */
export const none: Framing = {
  name: "none",
  recognise: () => "nothing before the payload",
};
