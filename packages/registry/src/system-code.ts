import { isError } from "./is-error.ts";

/** The system's code of a failure, such as ECONNREFUSED. Text that does not look like a code is not taken. */
export function systemCode(error: unknown): string {
  for (const link of errorChain(error)) {
    const { code } = link as { code?: unknown };
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) {
      return code;
    }
  }
  return isError(error) ? error.name : typeof error;
}

/** An error and its causes. */
export function errorChain(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; isError(link) && chain.length < 8; link = link.cause) {
    chain.push(link);
  }
  return chain;
}
