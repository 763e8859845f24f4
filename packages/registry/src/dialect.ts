import type { Endpoint } from "./endpoint.ts";

/** Which API a registry is asked by. */
export type RegistryDialect = "confluent" | "apicurio";

const apicurioPath = /\/apis\/registry\/v([23])$/;
const compatiblePath = /\/apis\/ccompat\/v\d+$/;

/** The API that stands at the addresses' paths; a `TypeError` where they differ, or are not of the dialect that was asked for. */
export function resolveDialect(endpoints: readonly Endpoint[], declared: RegistryDialect | undefined): RegistryDialect {
  const found = new Set(endpoints.map(({ url }): RegistryDialect => (apicurioPath.test(url) ? "apicurio" : "confluent")));
  const [dialect = "confluent"] = found;
  if (found.size > 1) {
    throw new TypeError("urls must be addresses of one API: some end in /apis/registry/v2 or v3, Apicurio's own, and some do not");
  }
  if (declared === "apicurio" && dialect !== "apicurio") {
    throw new TypeError('dialect "apicurio" needs the root of Apicurio\'s own API, such as "http://localhost:8080/apis/registry/v3"');
  }
  return declared ?? dialect;
}

/** The version of Apicurio's own API that an address is the root of. */
export function apicurioVersion(endpoint: Endpoint | undefined): "v2" | "v3" {
  return apicurioPath.exec(endpoint?.url ?? "")?.[1] === "2" ? "v2" : "v3";
}

/** Whether all addresses are Apicurio's stand-in for the Confluent API, whose own API then stands beside it. */
export function isApicurioCompatible(endpoints: readonly Endpoint[]): boolean {
  return endpoints.every(({ url }) => compatiblePath.test(url));
}
