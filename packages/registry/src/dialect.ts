import type { Endpoint } from "./endpoint.ts";

/** The API by which a registry is asked. */
export type RegistryDialect = "confluent" | "apicurio";

const apicurioPath = /\/apis\/registry\/v([23])$/;
const compatiblePath = /\/apis\/ccompat\/v\d+$/;

/** The API of these addresses. Throws a `TypeError` if they differ, or if they are not of the API that the options name. */
export function resolveDialect(endpoints: readonly Endpoint[], declared: RegistryDialect | undefined): RegistryDialect {
  const found = new Set(endpoints.map(({ url }): RegistryDialect => (apicurioPath.test(url) ? "apicurio" : "confluent")));
  const [dialect = "confluent"] = found;
  if (found.size > 1) {
    throw new TypeError("urls must be addresses of one API: some end in /apis/registry/v2 or v3 (Apicurio's own API), and some do not");
  }
  if (declared === "apicurio" && dialect !== "apicurio") {
    throw new TypeError('dialect "apicurio" needs the root of Apicurio\'s own API, such as "http://localhost:8080/apis/registry/v3"');
  }
  return declared ?? dialect;
}

/** The version of Apicurio's own API, if the address is a root of it. */
export function apicurioVersion(endpoint: Endpoint | undefined): "v2" | "v3" {
  return apicurioPath.exec(endpoint?.url ?? "")?.[1] === "2" ? "v2" : "v3";
}

/** Whether all addresses are Apicurio's Confluent-compatible API. Its own API is then available at the same host. */
export function isApicurioCompatible(endpoints: readonly Endpoint[]): boolean {
  return endpoints.every(({ url }) => compatiblePath.test(url));
}
