import type { EnvelopeFormat, Origin, Shape } from "../envelope/envelope.ts";
import type { CdcEvent } from "../event.ts";

/** The events of a value, by the first envelope that recognises its shape and does not find by its values that it is another's. */
export function openValue(
  value: unknown,
  origin: Origin,
  opens: EnvelopeFormat,
  shape: Shape,
  envelopes: readonly EnvelopeFormat[],
): readonly CdcEvent[] {
  const events = opens.open(value, origin);
  return events ?? openAfter(value, origin, opens, shape, envelopes);
}

function openAfter(
  value: unknown,
  origin: Origin,
  declined: EnvelopeFormat,
  shape: Shape,
  envelopes: readonly EnvelopeFormat[],
): readonly CdcEvent[] {
  for (const envelope of envelopes.slice(envelopes.indexOf(declined) + 1)) {
    if (envelope.recognise(shape) !== null) {
      const events = envelope.open(value, { ...origin, route: { ...origin.route, envelope: envelope.name } });
      if (events !== null) {
        return events;
      }
    }
  }
  throw new TypeError(`the envelope ${declined.name} declined a value, and no other takes it: the last one must take any`);
}
