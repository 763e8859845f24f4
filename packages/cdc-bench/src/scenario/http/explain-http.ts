import { BenchError } from "../../bench-error.ts";

/** Why an API cannot be reached, in a sentence; any other error as it is. */
export function explainHttp(address: string, error: unknown): unknown {
  const { host } = new URL(address);
  const { code } = Object(error) as { readonly code?: unknown };
  if (typeof code !== "string" || error instanceof BenchError) {
    return error;
  }
  const known =
    reasons[code] ?? (/CERT|SELF_SIGNED|UNABLE_TO_|SSL|TLS/.test(code) ? "its certificate is not trusted, or it does not speak TLS" : null);
  const reason = known ?? (code.startsWith("HPE_") ? "what answers there does not speak HTTP" : null);
  return reason === null ? error : new BenchError("connection", `cannot ask the API at ${host}: ${reason} (${code}).`, { cause: error });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there. Start it, or check --url",
  ECONNRESET: "it closed the connection",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  ETIMEDOUT: "it does not answer",
  EPIPE: "it closed the connection",
};
