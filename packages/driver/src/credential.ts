import type { MakeDriverError } from "./errors.ts";
import { isError } from "./is-error.ts";

/** What a driver asks a function of the application for, such as a token. */
export interface CredentialQuestion<T> {
  /** The option that has the function, such as `sasl.password`. */
  readonly option: string;
  /** What it is expected to give, for the message, such as `a text`. */
  readonly expected: string;
  /** The function of the application. */
  readonly give: () => T | Promise<T>;
  /** What was found in place of a credential, without the secret, or null if it is one. */
  readonly wrong: (given: unknown) => string | null;
  /** Makes the error of the driver's own class. */
  readonly makeError: MakeDriverError;
}

/**
 * A credential from a function of the application. Rejects with `authentication-failed` if the function throws, or gives something else. What
 * it throws may hold the secret. So it is not shown, nor kept as the cause, because causes are logged.
 */
export async function askForCredential<T>({ option, expected, give, wrong, makeError }: CredentialQuestion<T>): Promise<T> {
  let found: string;
  try {
    const given = await give();
    const wrongPart = wrong(given);
    if (wrongPart === null) {
      return given;
    }
    found = wrongPart;
  } catch (error) {
    found = `${isError(error) ? error.name : "a value"} thrown. Its message is not shown, because it may hold the secret: log it in the function`;
  }
  throw makeError("authentication-failed", `expected the function ${option} to give ${expected}, found ${found}`);
}
