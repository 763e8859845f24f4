import type { EnvelopeFormat, Origin } from "../envelope/envelope.ts";
import type { CdcEvent } from "../event.ts";
import type { SideRoute } from "./side-route.ts";

/**
 * The events of a value, by the first envelope that recognises its shape and does not find by its values that it is another's. `inner`: the
 * value of the message inside of it, where its envelope asked for one.
 */
export function openValue(
  value: unknown,
  origin: Origin,
  route: SideRoute,
  envelopes: readonly EnvelopeFormat[],
  inner?: unknown,
): readonly CdcEvent[] {
  return route.opens.open(value, origin, inner) ?? openByNext(value, origin, route, envelopes);
}

function openByNext(
  value: unknown,
  origin: Origin,
  { opens, shape }: SideRoute,
  envelopes: readonly EnvelopeFormat[],
): readonly CdcEvent[] {
  for (const envelope of envelopes.slice(envelopes.indexOf(opens) + 1)) {
    if (envelope.recognise(shape) !== null) {
      const events = envelope.open(value, { ...origin, route: { ...origin.route, envelope: envelope.name } });
      if (events !== null) {
        return events;
      }
    }
  }
  throw new TypeError(`the envelope ${opens.name} declined a value, and no other took it: the last one must take any`);
}
