import type { KafkaConfig } from "kafkajs";
import { askForCredential } from "@cdckit/driver";
import { makeError } from "./errors.ts";

type Login = NonNullable<KafkaConfig["sasl"]>;
type OauthBearerLogin = Extract<Login, { readonly mechanism: "oauthbearer" }>;
type TokenProvider = OauthBearerLogin["oauthBearerProvider"];

/**
 * The login as kafkajs gets it. An object of its own: kafkajs writes an `authenticationProvider` into it, which other drivers refuse, and a frozen
 * one does not take.
 */
export function loginOf(sasl: Login): Login {
  return "oauthBearerProvider" in sasl
    ? ({ ...sasl, oauthBearerProvider: () => tokenOf(sasl.oauthBearerProvider) } as OauthBearerLogin)
    : { ...sasl };
}

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
