import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { EnvelopeFormat, Shape } from "./envelope.ts";
import { isBlock } from "./source.ts";

/** The members of a message that its envelope does not know; null if there are none. */
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

/** The envelopes that `keepingExtra` has made, each with the envelope that it was made from. */
const originals = new WeakMap<EnvelopeFormat, EnvelopeFormat>();

/**
 * The envelope for values of this shape, extended so that no member is lost: members that the envelope does not know become the events'
 * `extra`. The names of these members are found once per shape, so that values without such members cost nothing.
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

/** The envelope in the list of formats that this one was made from, or itself: for looking up its place in the list. */
export function originalOf(envelope: EnvelopeFormat): EnvelopeFormat {
  return originals.get(envelope) ?? envelope;
}
