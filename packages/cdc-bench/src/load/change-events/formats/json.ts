import { type ChangeFormat, textBetween } from "../change-format.ts";
import { envelopeText, keyText } from "./payload-text.ts";

const nothing = Buffer.alloc(0);

/** Connect's JSON converter with `schemas.enable=false`. */
export const json: ChangeFormat = {
  name: "json",
  title: "JSON",
  schemas: () => [],
  createEncoder: (_source, _ids, takeBytes = Buffer.allocUnsafe) => ({
    key: (key) => textBetween(nothing, keyText(key), nothing, takeBytes),
    value: (envelope) => textBetween(nothing, envelopeText(envelope), nothing, takeBytes),
  }),
};
