import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { EnvelopeFormat, Shape } from "./envelope.ts";
import { isBlock } from "./source.ts";

/** The members of a message that are none of its envelope's; null where there are none. */
export function extraOf(value: Readonly<Record<string, unknown>>, members: ReadonlySet<string>): Columns | null {
  const names = Object.keys(value).filter((name) => !members.has(name));
  return names.length === 0 ? null : picked(value, names);
}

function picked(value: Readonly<Record<string, unknown>>, names: readonly string[]): Columns | null {
  let extra: Columns | null = null;
  for (const name of names) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) {
      extra ??= {};
      setProperty(extra, name, value[name]);
    }
  }
  return extra;
}

/** The formats that keep what is none of their members, by the one that they are of. */
const originals = new WeakMap<EnvelopeFormat, EnvelopeFormat>();

/**
 * The envelope for values of this shape, of which no member vanishes: those that the envelope does not have become the events' `extra`. What
 * they are is told once a shape, so that values without any cost nothing.
 */
export function keepingExtra(envelope: EnvelopeFormat, shape: Shape): EnvelopeFormat {
  const members = envelope.membersOf?.(shape);
  const names = members === undefined || shape.fields === null ? [] : shape.fields.filter((name) => !members.has(name));
  if (names.length === 0) {
    return envelope;
  }
  const keeping: EnvelopeFormat = {
    ...envelope,
    open: (value, origin, inner) => {
      const extra = isBlock(value) ? picked(value, names) : null;
      return envelope.open(value, extra === null ? origin : origin.withExtra(extra), inner);
    },
  };
  originals.set(keeping, envelope);
  return keeping;
}

/** The envelope as it stands in the list of formats. */
export function originalOf(envelope: EnvelopeFormat): EnvelopeFormat {
  return originals.get(envelope) ?? envelope;
}
