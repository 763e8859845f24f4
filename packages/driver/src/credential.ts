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
  /**
   * So long the function may take. Clients and questions to brokers have to wait longer than that, because they would not know why it took so long.
   * @default credentialDeadlineMs
   */
  readonly deadlineMs?: number;
  /** Makes the error of the driver's own class. */
  readonly makeError: MakeDriverError;
}

/** So long a function for a credential may take, in milliseconds: a server of tokens that starts cold takes seconds. */
export const credentialDeadlineMs = 10_000;

/**
 * A credential from a function of the application. Rejects with `authentication-failed` if the function throws, gives something else, or gives
 * nothing in time. What it throws may hold the secret. So it is not shown, nor kept as the cause, because causes are logged.
 */
export async function askForCredential<T>(question: CredentialQuestion<T>): Promise<T> {
  const { option, expected, give, wrong, deadlineMs = credentialDeadlineMs, makeError } = question;
  let found: string;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof nothing>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, nothing).unref(); // while the session is open, its connection keeps the process alive
  });
  try {
    const given = await Promise.race([give(), late]);
    const wrongPart =
      given === nothing
        ? `no answer within ${deadlineMs} ms, which is as long as it may take. Keep a token until it expires, and get the next one early`
        : wrong(given);
    if (wrongPart === null) {
      return given as T;
    }
    found = wrongPart;
  } catch (error) {
    found = `${isError(error) ? error.name : "a value"} thrown. Its message is not shown, because it may hold the secret: log it in the function`;
  } finally {
    clearTimeout(timer);
  }
  throw makeError("authentication-failed", `expected the function ${option} to give ${expected}, found ${found}`);
}

const nothing: unique symbol = Symbol("nothing");

/**
 * What is wrong if this is a broker's answer to a token; null if the broker has taken the token. Clients take every answer without an error code for
 * success. But a broker that refuses a token sends its reason as JSON first (RFC 7628, section 3.2.2), and the next request is an error that does
 * not name the token.
 */
export function refusedToken(answer: Uint8Array): string | null {
  const text = Buffer.from(answer).toString();
  if (!text.startsWith("{")) {
    return null;
  }
  const reason = /"status"\s*:\s*"([\w -]+)"/.exec(text)?.[1];
  return `the broker refused the token${reason === undefined ? "" : ` (${reason})`}: it has expired, or the listener expects another issuer, audience or scope`;
}
