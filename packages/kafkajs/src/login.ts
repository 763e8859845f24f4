import type { KafkaConfig } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

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

/**
 * What a function of the application gives. It may ask a server, which may fail for a moment. What it throws may hold the secret. So it is not
 * shown, nor kept as the cause, because causes are logged.
 */
async function tokenOf(give: TokenProvider): ReturnType<TokenProvider> {
  let found: string;
  try {
    const token = (await give()) as { readonly value?: unknown } | undefined;
    if (typeof token?.value === "string" && token.value !== "") {
      return token as Awaited<ReturnType<TokenProvider>>; // checked
    }
    found = "no value";
  } catch (error) {
    found = `${error instanceof Error ? error.name : "a value"} thrown. Its message is not shown, because it may hold the secret: log it in the function`;
  }
  throw asConnectionError(
    new KafkaJsDriverError(
      "authentication-failed",
      `expected the function sasl.oauthBearerProvider to give { value }, a text, found ${found}`,
    ),
  );
}

/** kafkajs ends the connection, whose login has begun, and connects again after errors of this name. Others are final. */
function asConnectionError(failure: KafkaJsDriverError): Error {
  const cause = Object.assign(failure, { retriable: true });
  return Object.assign(new Error(failure.message, { cause }), { name: "KafkaJSConnectionError", retriable: true });
}
