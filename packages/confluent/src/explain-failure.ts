import { neededToRead, type GroupAndTopics, refusedJoin, type RefusedResource, refusedResource } from "@cdckit/driver";
import { type ClientLog, noToken } from "./client-log.ts";
import { ConfluentDriverError, isConfluentDriverError } from "./errors.ts";
import { type ClientError, codes } from "./low-level-client.ts";

const connections: ReadonlySet<unknown> = new Set([codes.transport, codes.resolve, codes.allBrokersDown, codes.timedOut, codes.ssl]);

/** How librdkafka says that it does not take a property, before it connects to anything. These errors have no code of their own. */
const misconfigured = /configuration property|^Property ".*" must be|^`[\w.]+` must|not in pem format/i;
const fencedInstance =
  "another member of the group has the same groupInstanceId, and has taken this one's place. Give each member an id of its own";
/** By the protocol of KIP-848, where the member that is there keeps its place. librdkafka gives up at once. */
const takenInstance =
  "another member of the group has the same groupInstanceId, and the group did not let this one in. Give each member an id of its own. If it is " +
  "an earlier process of this one that was killed, start again when its session is over";

/**
 * librdkafka's failure as an error that says what to check. Of the log, it takes the last line about a failed connection and the line about the
 * end, because the error itself says only that there is no connection, or that it is over. It never holds a password.
 */
export function explainFailure(
  error: unknown,
  brokers: string,
  { lastFailure, fatal }: Pick<ClientLog, "lastFailure" | "fatal">,
  reading: GroupAndTopics,
): ConfluentDriverError {
  if (isConfluentDriverError(error)) {
    return error;
  }
  const { code, message = String(error) } = (error ?? {}) as Partial<ClientError>;
  const cause = { cause: error };
  const refused = refusedResource([code]) ?? (code === codes.fatal ? refusedIn(fatal) : null);
  if (refused !== null) {
    const reason = (code === codes.fatal && fatal !== null ? fatal : message).replace(/\.*\s*$/, "");
    return new ConfluentDriverError("not-authorized", `${reason}. ${neededToRead(refused, reading)}`, cause);
  }
  const known = lastFailure === null ? null : refusal(lastFailure, brokers);
  if (known !== null && (connections.has(code) || code === codes.authentication || code === codes.saslAuthentication)) {
    return new ConfluentDriverError(known.code, known.detail, cause);
  }
  if (connections.has(code)) {
    return unreachable(brokers, lastFailure ?? message, error);
  }
  const joinRefused = refusedJoin([code], reading, "cooperative-sticky");
  if (joinRefused !== null) {
    return new ConfluentDriverError("client-crashed", joinRefused, cause);
  }
  const duplicate = duplicateInstance(code, fatal);
  if (duplicate !== null) {
    return new ConfluentDriverError("fenced", duplicate, cause);
  }
  if (misconfigured.test(message)) {
    const detail = `librdkafka refuses its configuration: ${message.trim().replace(/[.?]$/, "")}. Check properties, and that the texts of ssl are PEM`;
    return new ConfluentDriverError("invalid-option", detail, cause);
  }
  if (/key values mismatch/.test(message)) {
    return new ConfluentDriverError("authentication-failed", "the certificates do not fit: ssl.key is not the key of ssl.cert", cause);
  }
  return new ConfluentDriverError("client-crashed", `librdkafka gave up: ${code === codes.fatal ? (fatal ?? message) : message}`, cause);
}

/** What is wrong if two members of the group have one `groupInstanceId`; null if that is not the failure. */
function duplicateInstance(code: unknown, fatal: string | null): string | null {
  const said = code === codes.fatal ? (fatal ?? "") : "";
  if (/instance ID is still used/i.test(said)) {
    return takenInstance;
  }
  return code === codes.fencedInstance || /group\.instance\.id|instance ID/i.test(said) ? fencedInstance : null;
}

function unreachable(brokers: string, reason: string, cause: unknown): ConfluentDriverError {
  return reason === noToken
    ? new ConfluentDriverError("authentication-failed", noToken, { cause })
    : new ConfluentDriverError(
        "brokers-unreachable",
        `cannot reach brokers ${brokers}: ${reason.replace(/\.?\s*$/, "")}. Is Kafka running, and is this address one of its advertised listeners? A listener that wants TLS or a login may also end connections without a word`,
        { cause },
      );
}

/** With the protocol of KIP-848, the broker's refusal ends the client, and only the line about its end says why. */
function refusedIn(fatal: string | null): RefusedResource | null {
  if (fatal === null) {
    return null;
  }
  return /Group authorization failed/i.test(fatal) ? "group" : /Topic authorization failed/i.test(fatal) ? "topic" : null;
}

/** librdkafka calls it a failed login, too, if a connection ends while it logs in. An error of its own says that no broker has refused anything. */
const unansweredLogin = /(SaslAuthenticateRequest|SASL .* mechanism handshake) failed: Local: /i;

/** What a line of librdkafka's log says about a connection that will never be accepted; null if it may be, later. */
export function refusal(
  line: string,
  brokers: string,
): { readonly code: "authentication-failed" | "protocol-mismatch"; readonly detail: string } | null {
  if (unansweredLogin.test(line)) {
    return null;
  }
  if (
    /SASL authentication error|Authentication failed|SaslAuthenticate|Unsupported SASL mechanism|SASL .* mechanism handshake failed/i.test(
      line,
    )
  ) {
    return {
      code: "authentication-failed",
      detail: `${brokers} refused the login: ${line}. Check sasl.mechanism, sasl.username and sasl.password`,
    };
  }
  if (
    /certificate verify failed|certificate (required|unknown|expired)|bad certificate|unknown ca|self.signed certificate|certificate has expired/i.test(
      line,
    )
  ) {
    return {
      code: "authentication-failed",
      detail: `the certificates do not fit: ${line}. Check ssl.ca, which names the authority that signs the brokers' certificates, whether these have expired or lack the names in brokers, and ssl.cert with ssl.key`,
    };
  }
  if (/wrong version number|SSL handshake failed|connecting to a PLAINTEXT broker listener/i.test(line)) {
    return {
      code: "protocol-mismatch",
      detail: `${brokers} does not speak TLS as it was tried: ${line}. Leave ssl out, or give the port of the TLS listener`,
    };
  }
  if (/connecting to a SSL listener|incorrect security\.protocol|broker might require SASL|Probable HTTP response/i.test(line)) {
    return {
      code: "protocol-mismatch",
      detail: `${brokers} speaks another protocol than the one that was tried: ${line}. It may want TLS (ssl: true) or a login (sasl), or it is not Kafka`,
    };
  }
  return null;
}
