import type { KafkaConfig } from "kafkajs";
import { askForCredential, credentialDeadlineMs, refusedToken } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { isConnectionFailure } from "./explain-failure.ts";

type Login = NonNullable<KafkaConfig["sasl"]>;
type OauthBearerLogin = Extract<Login, { readonly mechanism: "oauthbearer" }>;
type Provider = Extract<Login, { readonly authenticationProvider: unknown }>["authenticationProvider"];
type TokenProvider = OauthBearerLogin["oauthBearerProvider"];

/**
 * The login as kafkajs gets it. An object of its own: kafkajs writes an `authenticationProvider` into it, which other drivers refuse, and a frozen
 * one does not take.
 */
export function loginOf(sasl: Login): Login {
  if ("authenticationProvider" in sasl) {
    return { ...sasl };
  }
  return withCutLogins(
    "oauthBearerProvider" in sasl
      ? ({ ...sasl, oauthBearerProvider: () => tokenOf(sasl.oauthBearerProvider) } as OauthBearerLogin)
      : { ...sasl },
  );
}

/**
 * How long the functions of a login may hold up one question: kafkajs tries three times. If the question ended earlier, a start would say that no broker
 * had answered.
 */
export function loginMsOf(sasl: Login | undefined): number {
  return sasl !== undefined && "oauthBearerProvider" in sasl ? 3 * credentialDeadlineMs : 0;
}

/**
 * kafkajs calls it a refused login, too, if a connection ends while it logs in, or nothing is answered, and does not try again. It keeps the reason
 * as a text only. So the provider that it writes into the login is one that tells the two apart by the error of the request.
 */
function withCutLogins(login: Login): Login {
  let own: Provider | undefined;
  return Object.defineProperty(login, "authenticationProvider", {
    get: () => own,
    set: (provider: Provider) => {
      own = judgedByRequests(provider);
    },
  });
}

function judgedByRequests(provider: Provider): Provider {
  return (args) => {
    let cut: Error | undefined;
    const saslAuthenticate: typeof args.saslAuthenticate = (asked) =>
      // kafkajs reads no answer to a token
      args.saslAuthenticate({ response: answerToToken, ...asked }).catch((error: Error) => {
        cut = isConnectionFailure(error) ? error : undefined;
        throw error;
      });
    const authenticator = provider({ ...args, saslAuthenticate });
    return {
      authenticate: () =>
        authenticator.authenticate().catch((error: Error) => Promise.reject(cut === undefined ? error : asConnectionError(cut))),
    };
  };
}

/** Fails if the broker has refused the token: the function may give another one later. */
const answerToToken = Object.freeze({
  decode: async (answer: Buffer): Promise<Buffer> => {
    const refusal = refusedToken(answer.subarray(4)); // after its length
    if (refusal !== null) {
      throw asConnectionError(makeError("authentication-failed", refusal));
    }
    return answer;
  },
  parse: (): never => undefined as never,
});

/** A token of the application's function, which may ask a server, which may fail for a moment. */
async function tokenOf(give: TokenProvider): ReturnType<TokenProvider> {
  const wrong = (token: unknown): string | null => {
    const { value } = (token ?? {}) as { readonly value?: unknown };
    return typeof value === "string" && value !== "" ? null : "no value";
  };
  const question = { option: "sasl.oauthBearerProvider", expected: "{ value }, a text", give, wrong, makeError };
  return await askForCredential(question).catch((failure: Error) => Promise.reject(asConnectionError(failure)));
}

/** kafkajs ends the connection, whose login has begun, and connects again after errors of this name. Others are final. */
function asConnectionError(failure: Error): Error {
  const cause = Object.assign(failure, { retriable: true });
  return Object.assign(new Error(failure.message, { cause }), { name: "KafkaJSConnectionError", retriable: true });
}
