import { RegistryError } from "./errors.ts";
import { quoted } from "./quoted.ts";

/** Half of a surrogate pair has no UTF-8, so that it cannot be part of a path: `encodeURIComponent` throws. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text); // with the flag u, a whole pair is one character, and no surrogate
}

/** Refuses a subject that a user asks for and no registry can have. */
export function requireWellFormed(subject: string): string {
  if (!isWellFormed(subject)) {
    throw new RegistryError("refused", `subject ${quoted(subject)} has half of a surrogate pair, and cannot be asked for: correct it`);
  }
  return subject;
}
