import type { ChangeFormat } from "../change-format.ts";
import { envelopeText, keyText } from "./payload-text.ts";

/** Connect's JSON converter with `schemas.enable=false`. */
export const json: ChangeFormat = {
  name: "json",
  title: "JSON",
  schemas: () => [],
  createEncoder: () => ({
    key: (key) => Buffer.from(keyText(key)),
    value: (envelope) => Buffer.from(envelopeText(envelope)),
  }),
};
