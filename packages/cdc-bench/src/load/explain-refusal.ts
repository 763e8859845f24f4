import { BenchError } from "../bench-error.ts";
import type { ClusterConnection } from "./connection.ts";
import { type Listener, probeListener } from "./probe-listener.ts";

/** kafkajs' errors as far as they are looked at. */
interface Failure extends Error {
  readonly code?: unknown;
  readonly type?: unknown;
}

/** Nobody is there: asking what is wanted there would only take longer. */
const nobodyThere = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

const certificateAdvice: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "is signed by an authority that is not known here: name it with --ssl-ca FILE",
  SELF_SIGNED_CERT_IN_CHAIN: "is signed by an authority that is not known here: name it with --ssl-ca FILE",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "is signed by an authority that is not known here: name it with --ssl-ca FILE",
  UNABLE_TO_GET_ISSUER_CERT: "is signed by an authority that is not known here: name it with --ssl-ca FILE",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is signed by an authority that is not known here: name it with --ssl-ca FILE",
  CERT_SIGNATURE_FAILURE: "is not signed by the authority of --ssl-ca that it names",
  CERT_HAS_EXPIRED: "has expired: it must be renewed on the broker, or the clock here is wrong",
  CERT_NOT_YET_VALID: "is not valid yet: the clock here, or the broker's, is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another name: give --brokers, and the broker's advertised listeners, a name that it holds",
};

/** Why the brokers did not let us in, in a sentence with what to do. Where the client does not say, a broker is asked what it wants. */
export async function explainRefusal(connection: ClusterConnection, error: unknown): Promise<BenchError> {
  const chain = causesOf(error);
  const told = certificateSentence(chain) ?? authorizationSentence(chain) ?? loginSentence(connection, chain);
  if (told !== undefined) {
    return refusal(connection, told, error);
  }
  const wanted = chain.some(({ message }) => nobodyThere.test(message)) ? undefined : await askWhatIsWanted(connection);
  const sentence =
    wanted ??
    `cannot reach Kafka at ${namesOf(connection)}: ${rootReason(chain, error)}. Is a broker running there, and do its advertised listeners fit this machine?`;
  return refusal(connection, sentence, error);
}

async function askWhatIsWanted(connection: ClusterConnection): Promise<string | undefined> {
  for (const broker of connection.brokers) {
    const listener = await probeListener(broker, connection.tls);
    const sentence = listener === null ? undefined : contrastSentence(broker, connection, listener);
    if (sentence !== undefined) {
      return sentence;
    }
  }
  return undefined;
}

/** How what a listener wants and what it got differ, or undefined where they do not. */
export function contrastSentence(broker: string, { tls, login }: ClusterConnection, listener: Listener): string | undefined {
  const { mechanisms } = listener;
  const wantsLogin = mechanisms !== null && mechanisms.length > 0 && login === undefined;
  if (listener.tls && tls === undefined) {
    const more = wantsLogin ? ` It also wants a login by SASL (${mechanisms.join(", ")}): ${howToLogIn}.` : "";
    return `${broker} wants TLS, and the connection was plain: give --ssl, and --ssl-ca FILE where an authority of your own signs.${more}`;
  }
  if (!listener.tls && tls !== undefined) {
    return `${broker} does not speak TLS: leave --ssl away (and KAFKA_SSL), or give the port of its TLS listener.`;
  }
  if (listener.refusesCertificate) {
    return tls?.cert === undefined
      ? `${broker} wants a certificate of the client: give --ssl-cert FILE and --ssl-key FILE.`
      : `${broker} refused the certificate of --ssl-cert: is it signed by an authority that the broker trusts, and not expired?`;
  }
  if (wantsLogin) {
    return `${broker} wants a login by SASL (${mechanisms.join(", ")}): ${howToLogIn}.`;
  }
  if (login === undefined || mechanisms === null) {
    return undefined;
  }
  if (mechanisms.length === 0) {
    return `${broker} takes no login: leave --sasl-mechanism and --sasl-username away (and KAFKA_SASL_*), or give the port of its SASL listener.`;
  }
  const mechanism = login.mechanism.toUpperCase();
  return mechanisms.includes(mechanism)
    ? undefined
    : `${broker} does not offer ${mechanism}, but ${mechanisms.join(", ")}: give another --sasl-mechanism.`;
}

const howToLogIn =
  "give --sasl-mechanism plain, scram-sha-256 or scram-sha-512, --sasl-username, and the password as the environment variable KAFKA_SASL_PASSWORD";

function certificateSentence(chain: readonly Failure[]): string | undefined {
  const advice = chain.map(({ code }) => certificateAdvice[String(code)]).find((found) => found !== undefined);
  return advice === undefined ? undefined : `the certificate that the broker shows ${advice}.`;
}

function authorizationSentence(chain: readonly Failure[]): string | undefined {
  const type = chain.map((failure) => String(failure.type)).find((name) => name.endsWith("_AUTHORIZATION_FAILED"));
  const what = type?.replace("_AUTHORIZATION_FAILED", "").toLowerCase().replaceAll("_", " ");
  return what && `the user may not do this (${what}): it needs Describe and Read on the topics, and Read on groups named cdc-bench-*.`;
}

/** Refused user or password. A mechanism that is not offered is left to the contrast, which names those that are. */
function loginSentence({ login }: ClusterConnection, chain: readonly Failure[]): string | undefined {
  const failure = chain.find(({ name }) => name === "KafkaJSSASLAuthenticationError");
  if (failure === undefined || login === undefined || /mechanism is not supported/.test(failure.message)) {
    return undefined;
  }
  return `the broker refused the login (${login.mechanism.toUpperCase()}): check --sasl-username, KAFKA_SASL_PASSWORD, and whether that user has a password for this mechanism.`;
}

/** What a broker says about a login is not ours: it is kept only as far as it does not repeat the password. */
function refusal({ brokers, login }: ClusterConnection, sentence: string, cause: unknown): BenchError {
  const texts = causesOf(cause).map(({ message, stack }) => `${message}${stack}`);
  const isSafe = login === undefined || !texts.some((text) => text.includes(login.password));
  const place = brokers.some((broker) => sentence.includes(broker)) ? "" : `Kafka at ${brokers.join(", ")}: `;
  return new BenchError("connection", `${place}${sentence}`, isSafe ? { cause } : {});
}

function namesOf({ brokers }: ClusterConnection): string {
  return brokers.join(", ");
}

/** The error and what it came from, outermost first. */
function causesOf(error: unknown): readonly Failure[] {
  const chain: Failure[] = [];
  for (let next = error; next instanceof Error && !chain.includes(next); next = next.cause) {
    chain.push(next);
  }
  return chain;
}

function rootReason(chain: readonly Failure[], error: unknown): string {
  const said = chain.at(-1)?.message ?? String(error);
  return said.replace(/^(Connection error: )+/, "").replace(/[.\s]+$/, "") || "no answer";
}
