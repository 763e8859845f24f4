import { withoutUserInfo } from "./redacting-logger.ts";

const maxLength = 300;
const maxCauses = 8;
/** Codes of Node's and undici's own errors: their messages hold addresses and no data. */
const systemCode = /^(E[A-Z0-9]+|UND_ERR_\w+)$/;

/**
 * What went wrong, for a health report: the outermost message, and the innermost where it says more. Only messages of the packages here, of
 * Node and of Kafka clients are told; those of an application's own errors may hold its data, so they give their name and code. Never throws.
 */
export function causeText(error: unknown): string {
  try {
    const told = causesOf(error).map(tell);
    const [first = String(typeof error), ...rest] = told;
    const last = rest.at(-1);
    const text = last === undefined || first.includes(last) ? first : `${first}: ${last}`;
    const clean = withoutUserInfo(text);
    return clean.length > maxLength ? `${clean.slice(0, maxLength)}...` : clean;
  } catch {
    return "an error that cannot be read"; // its getters throw
  }
}

function tell(error: Readonly<Record<string, unknown>>): string {
  const { name, message, status, code = status } = error;
  const hasCode = typeof code === "string" || typeof code === "number";
  const isTold =
    (hasCode && typeof message === "string" && (message.startsWith(`[${code}] `) || systemCode.test(String(code)))) ||
    (typeof name === "string" && name.startsWith("KafkaJS"));
  if (isTold && typeof message === "string" && message !== "") {
    return message;
  }
  return `${typeof name === "string" && name !== "" ? name : "an error"}${hasCode ? ` (${code})` : ""}`;
}

/** The error and what it came from. An aggregate stands for the first of its errors: a refused name has one for each address. */
function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const causes: Readonly<Record<string, unknown>>[] = [];
  let next: unknown = error;
  while (typeof next === "object" && next !== null && causes.length < maxCauses) {
    const cause = next as Readonly<Record<string, unknown>>;
    causes.push(cause);
    next = cause["cause"] ?? (Array.isArray(cause["errors"]) ? cause["errors"][0] : undefined);
  }
  return causes;
}
