import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { isPromise } from "../user-answer.ts";

/** The members that make events. Their answer is checked, because whoever decodes would fail on it later, far from its cause. */
const opening: ReadonlySet<string> = new Set<keyof EnvelopeFormat>(["open", "openUnprojected"]);

/**
 * An envelope of the user's own, whose answers are checked. Without this, the promise of an envelope that is written as an async function would
 * be taken for events or for evidence, and if it rejected, nobody would listen: that ends a process.
 */
export function checkedEnvelope(own: EnvelopeFormat): EnvelopeFormat {
  const checked: Record<string, unknown> = {};
  for (const name of memberNamesOf(own)) {
    const member = (own as unknown as Readonly<Record<string, unknown>>)[name];
    checked[name] = typeof member === "function" ? checkedMember(own, name, member as Member) : member;
  }
  return checked as unknown as EnvelopeFormat; // it has each member of `own`
}

type Member = (...args: readonly unknown[]) => unknown;

function checkedMember(own: EnvelopeFormat, name: string, member: Member): Member {
  return (...args) => {
    const answer = member.apply(own, [...args]);
    if (isPromise(answer)) {
      throw unexpected(own, name, "an answer at once", "a promise: an envelope cannot wait");
    }
    if (opening.has(name) && answer !== null && answer !== undefined && !Array.isArray(answer)) {
      throw unexpected(own, name, "an array of events, or null", `a value of type ${typeof answer}`);
    }
    return answer;
  };
}

/** Also those of its class. */
function memberNamesOf(own: EnvelopeFormat): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at: unknown = own; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      names.add(name);
    }
  }
  names.delete("constructor");
  return names;
}

function unexpected({ name }: EnvelopeFormat, member: string, expected: string, found: string): TypeError {
  return new TypeError(`expected ${expected} from ${member} of the envelope ${JSON.stringify(name)}, found ${found}`);
}
