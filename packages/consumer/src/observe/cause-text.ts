import { constants } from "node:os";
import { causesOf, codeOf, readMember, readText } from "../user-code/user-value.ts";
import { withoutUserInfo } from "./redacting-logger.ts";

const maxWaitLength = 300;
/** Nothing follows a halt, so there is room for what its error advises at the end. */
const maxHaltLength = 1_500;
/**
 * Codes of errors of names that do not resolve, of undici, of Node's TLS and HTTP parser, and of OpenSSL: what is wrong with a certificate. Their
 * messages hold addresses and no data, as those of the system's own codes.
 */
const networkCode =
  /^(ENOTFOUND|ESOCKETTIMEDOUT|E(NODATA|FORMERR|SERVFAIL|NOTIMP|REFUSED|BADRESP|TIMEOUT)|EAI_\w+|(UND_ERR|ERR_TLS|ERR_SSL|HPE|CERT|CRL|UNABLE_TO)_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|HOSTNAME_MISMATCH)$/;

/** Not every code that looks like one of the system's: an application names its own, as EUSERTAKEN. */
function isSystemCode(code: string | number): boolean {
  return typeof code === "string" && (Object.hasOwn(constants.errno, code) || networkCode.test(code));
}

/**
 * What went wrong, for a health report: the outermost message, and the innermost one that is shown and says more (the bare name of an error does not).
 * Only messages of these packages, of Node and of Kafka clients are shown. Messages of an application's own errors may hold its data, so only
 * their name and code are shown.
 * Never throws.
 */
export function causeText(error: unknown, maxLength: number = maxWaitLength): string {
  const [first, ...rest] = causesOf(error).map(describe);
  const outer = first?.text ?? typeof error;
  const last = (rest.findLast(({ isShown }) => isShown) ?? rest.at(-1))?.text;
  const text = last === undefined || last === "Error" || outer.includes(last) ? outer : `${outer}: ${last}`;
  const clean = withoutUserInfo(text);
  return clean.length > maxLength ? `${clean.slice(0, maxLength)}...` : clean;
}

/** Why a consumer has halted, for a health report: the error that `run()` rejects with, and what {@link causeText} shows of its cause. */
export function haltText(error: Error): string {
  const cause = readMember(error, "cause");
  const own = readText(cause, "message");
  const isSaid = cause === undefined || cause === null || (own !== undefined && own !== "" && error.message.includes(own));
  return isSaid ? error.message : `${error.message}: ${causeText(cause, maxHaltLength)}`;
}

interface Described {
  readonly text: string;
  /** The text is the message. If not, it is the name. */
  readonly isShown: boolean;
}

function describe(error: unknown): Described {
  const name = readText(error, "name");
  const message = readText(error, "message");
  const status = readMember(error, "status");
  const code = codeOf(error) ?? (typeof status === "number" || typeof status === "string" ? status : undefined);
  const isOfClient = name?.startsWith("KafkaJS") === true || (typeof code === "string" && code.startsWith("PLT_KFK_"));
  const isReported = isOfClient || (code !== undefined && (message?.startsWith(`[${code}] `) === true || isSystemCode(code)));
  return isReported && message !== undefined
    ? { text: message, isShown: true }
    : { text: `${name ?? "an error"}${code === undefined ? "" : ` (${code})`}`, isShown: false };
}
