import { isTextList, typesQuestion } from "./confluent-api.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError } from "./errors.ts";
import type { Transport } from "./transport.ts";

/** Whether one address answers as a schema registry, in words. */
export interface RegistryPing {
  readonly url: string;
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly detail: string;
}

/** Asks one address once. Never rejects: what is wrong is the answer. */
export async function pingEndpoint(endpoint: Endpoint, transport: Transport): Promise<RegistryPing> {
  const { url } = endpoint;
  try {
    const types = await transport.askOnce(endpoint, typesQuestion);
    if (!isTextList(types)) {
      return {
        url,
        ok: false,
        status: 200,
        detail: `${url} answers, but not as a schema registry does: is url the root of its Confluent API`,
      };
    }
    const known = types.filter((type) => /^[A-Z]{1,20}$/.test(type)).slice(0, 8);
    return { url, ok: true, status: 200, detail: `${url} answers as a schema registry (${known.join(", ")})` };
  } catch (error) {
    if (!isRegistryError(error)) {
      throw error;
    }
    return { url, ok: false, status: error.status, detail: error.detail };
  }
}
