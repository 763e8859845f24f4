import type { ClientLog } from "./client-log.ts";
import { ConfluentDriverError, isConfluentDriverError } from "./errors.ts";
import { type ClientError, codes } from "./low-level-client.ts";

const authorizations: ReadonlySet<unknown> = new Set([codes.topicAuthorization, codes.groupAuthorization, codes.clusterAuthorization]);
const connections: ReadonlySet<unknown> = new Set([codes.transport, codes.resolve, codes.allBrokersDown, codes.timedOut, codes.ssl]);

/**
 * librdkafka's failure as an error that says what to check. Of the log, it takes the last line about a failed connection and the line about the
 * end, because the error itself says only that there is no connection, or that it is over. It never holds a password.
 */
export function explainFailure(
  error: unknown,
  brokers: string,
  { lastFailure, fatal }: Pick<ClientLog, "lastFailure" | "fatal">,
): ConfluentDriverError {
  if (isConfluentDriverError(error)) {
    return error;
  }
  const { code, message = String(error) } = (error ?? {}) as Partial<ClientError>;
  const cause = { cause: error };
  if (authorizations.has(code)) {
    return new ConfluentDriverError(
      "not-authorized",
      `${message}. The user needs Describe and Read on the topics, and Read on the group`,
      cause,
    );
  }
  const known = lastFailure === null ? null : refusal(lastFailure, brokers);
  if (known !== null && (connections.has(code) || code === codes.authentication || code === codes.saslAuthentication)) {
    return new ConfluentDriverError(known.code, known.detail, cause);
  }
  if (connections.has(code)) {
    const reason = (lastFailure ?? message).replace(/\.?\s*$/, "");
    return new ConfluentDriverError(
      "brokers-unreachable",
      `cannot reach brokers ${brokers}: ${reason}. Is Kafka running, and is this address one of its advertised listeners?`,
      cause,
    );
  }
  if (code === codes.fencedInstance || (code === codes.fatal && fatal !== null && /group\.instance\.id|instance ID/i.test(fatal))) {
    return new ConfluentDriverError(
      "fenced",
      "another member of the group has the same groupInstanceId, and its place. Give each member an id of its own",
      cause,
    );
  }
  return new ConfluentDriverError("client-crashed", `librdkafka gave up: ${code === codes.fatal ? (fatal ?? message) : message}`, cause);
}

/** What a line of librdkafka's log says about a connection that will never be accepted; null if it may be, later. */
export function refusal(
  line: string,
  brokers: string,
): { readonly code: "authentication-failed" | "protocol-mismatch"; readonly detail: string } | null {
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
    /certificate verify failed|certificate required|bad certificate|unknown ca|self.signed certificate|certificate has expired/i.test(line)
  ) {
    return {
      code: "authentication-failed",
      detail: `the certificates do not fit: ${line}. Check ssl.ca, which names the authority that signs the brokers' certificates, and ssl.cert with ssl.key`,
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
