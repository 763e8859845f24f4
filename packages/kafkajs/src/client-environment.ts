import { readFileSync } from "node:fs";
import { didYouMean } from "@cdckit/driver";
import { type ClientProperties, clientOf, knownProperties } from "./client-properties.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { Properties, refuse } from "./properties.ts";

/** What variables say of Kafka and of the schema registry, in the names of cdckit. */
export interface ClientEnvironment extends ClientProperties {
  /** The option `registry` of a consumer, or the options of `createRegistry`. Undefined if no variable names a registry. */
  readonly registry: RegistrySettings | undefined;
}

/** Where a schema registry is, and how to log in there. */
export interface RegistrySettings {
  /** The roots of the registry's API, at least one: several addresses of one registry. */
  readonly urls: readonly string[];
  /** The login; absent if the variables name none. */
  readonly auth?: { readonly basic: { readonly username: string; readonly password: string } } | { readonly bearer: string };
}

/** With which words the names of variables begin. */
export interface ClientEnvironmentOptions {
  /**
   * Of the variables for Kafka.
   * @default "KAFKA_"
   */
  readonly prefix?: string;
  /**
   * Of the variables for the schema registry.
   * @default "SCHEMA_REGISTRY_"
   */
  readonly registryPrefix?: string;
}

/**
 * What Kubernetes sets in each container for a Service that is named as the prefix begins: `KAFKA_SERVICE_HOST` for `kafka`,
 * `KAFKA_SSL_PORT_9093_TCP_ADDR` for `kafka-ssl`. They say nothing about how to connect.
 */
const serviceLink = /(^|_)(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Short names that people use, and `cdc-bench` too, with the property that each means. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["BROKERS", "bootstrap.servers"],
  ["SSL_CA", "ssl.truststore.certificates"],
  ["SSL_CERT", "ssl.keystore.certificate.chain"],
  ["SSL_KEY", "ssl.keystore.key"],
]);
/** Texts in PEM. They may be one line with `\n` where lines end, because many places for variables take no other. */
const pemProperties = ["ssl.truststore.certificates", "ssl.keystore.certificate.chain", "ssl.keystore.key"];
const registryNames = ["URL", "USERNAME", "PASSWORD", "TOKEN", "BASIC_AUTH_USER_INFO", "BEARER_AUTH_TOKEN"];

/**
 * Reads Kafka's and the registry's settings from variables: `readClientEnvironment(process.env)`. A variable is a property of Java's clients
 * in capitals, with `_` for `.` and a prefix: `KAFKA_BOOTSTRAP_SERVERS`, `KAFKA_SASL_JAAS_CONFIG`. Besides there are `KAFKA_BROKERS`,
 * `KAFKA_SSL`, `KAFKA_SSL_CA`, `_CERT` and `_KEY` (PEM, or the path of a file), `KAFKA_SASL_USERNAME` and `_PASSWORD`, and for the registry `SCHEMA_REGISTRY_URL`, `_USERNAME` and `_PASSWORD`, or
 * `_TOKEN`. An empty variable counts as none. Throws a `KafkaJsDriverError` that names the variable, and never its value if that may be
 * secret. So does a name that is nearly one of these; other names with the prefix are in `ignored`, and so are those that
 * Kubernetes makes of Services: `KAFKA_SERVICE_HOST`, `KAFKA_SSL_SERVICE_HOST`.
 */
export function readClientEnvironment(env: Environment, options: ClientEnvironmentOptions = {}): ClientEnvironment {
  const { prefix = "KAFKA_", registryPrefix = "SCHEMA_REGISTRY_" } = options;
  const kafka = variablesOf(env, prefix, registryPrefix);
  const variableOf = (property: string): string =>
    kafka.written.get(property) ??
    (property === "bootstrap.servers" ? `${prefix}BROKERS or ${prefix}BOOTSTRAP_SERVERS` : `${prefix}${suffixOf(property)}`);
  const known = [...knownProperties.map(suffixOf), ...aliases.keys(), "SSL"].map((suffix) => `${prefix}${suffix}`);
  const client = clientOf(new Properties(withProtocol(kafka.entries, prefix), "variables", variableOf));
  const inRegistry = variablesOf(env, registryPrefix, prefix);
  const registry = registryOf(inRegistry.bySuffix, registryPrefix);
  const ignored = [...client.ignored, ...registry.ignored, ...kafka.serviceLinks, ...inRegistry.serviceLinks];
  refuseSlips(client.ignored, known);
  refuseSlips(
    registry.ignored,
    registryNames.map((suffix) => `${registryPrefix}${suffix}`),
  );
  return Object.freeze({ ...client, registry: registry.settings, ignored });
}

interface Variables {
  readonly bySuffix: ReadonlyMap<string, string>;
  /** The same by property. */
  readonly entries: Map<string, string>;
  /** Property to the name of the variable that has set it. */
  readonly written: ReadonlyMap<string, string>;
  /** Whole names of those that Kubernetes has set. */
  readonly serviceLinks: readonly string[];
}

/** The variables with the prefix that are not empty. One prefix may begin with the other. */
function variablesOf(env: Environment, prefix: string, other: string): Variables {
  const bySuffix = new Map<string, string>();
  const entries = new Map<string, string>();
  const written = new Map<string, string>();
  const serviceLinks: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    const isOthers = other.length > prefix.length && name.startsWith(other);
    if (name.startsWith(prefix) && !isOthers && value !== undefined && value.trim() !== "") {
      const suffix = name.slice(prefix.length);
      if (serviceLink.test(suffix)) {
        serviceLinks.push(name);
        continue;
      }
      const property = aliases.get(suffix) ?? suffix.toLowerCase().replaceAll("_", ".");
      const earlier = written.get(property);
      if (earlier !== undefined && entries.get(property) !== value) {
        refuse(`${earlier} and ${name} are two names of one setting, with two values: give one of them`);
      }
      bySuffix.set(suffix, value);
      entries.set(property, pemProperties.includes(property) ? pemOf(name, value, aliases.has(suffix)) : value);
      written.set(property, name);
    }
  }
  return { bySuffix, entries, written, serviceLinks };
}

function pemOf(name: string, value: string, mayBePath: boolean): string {
  if (!mayBePath || value.includes("-----BEGIN")) {
    return value.replaceAll("\\n", "\n");
  }
  try {
    return readFileSync(value, "utf8");
  } catch (cause) {
    throw new KafkaJsDriverError("invalid-option", `the file that ${name} names cannot be read`, { cause });
  }
}

/**
 * Java's clients neither encrypt nor log in without `security.protocol`. Whoever has set a login and no protocol means to log in, and would be
 * refused by the brokers without being told why.
 */
function withProtocol(entries: Map<string, string>, prefix: string): Map<string, string> {
  const ssl = entries.get("ssl");
  entries.delete("ssl");
  const mechanism = entries.get("sasl.mechanism");
  if (mechanism !== undefined) {
    entries.set("sasl.mechanism", mechanism.toUpperCase());
  }
  if (ssl !== undefined && entries.has("security.protocol")) {
    refuse(`${prefix}SSL and ${prefix}SECURITY_PROTOCOL are two names of one setting: give one of them`);
  }
  if (!entries.has("security.protocol")) {
    const isThere = (start: string): boolean => [...entries.keys()].some((name) => name.startsWith(start));
    const tls = ssl === undefined ? isThere("ssl.") : isOn(`${prefix}SSL`, ssl);
    if (!tls && isThere("ssl.")) {
      refuse(`${prefix}SSL says that there is no TLS, and other variables say how: leave one of both away`);
    }
    const protocols = isThere("sasl.") ? ["SASL_PLAINTEXT", "SASL_SSL"] : ["PLAINTEXT", "SSL"];
    entries.set("security.protocol", protocols[tls ? 1 : 0] ?? "");
  }
  return entries;
}

function isOn(name: string, value: string): boolean {
  const word = value.trim().toLowerCase();
  const isTrue = ["true", "1", "yes", "on"].includes(word);
  return isTrue || ["false", "0", "no", "off"].includes(word) ? isTrue : refuse(`expected ${name} to be true or false`);
}

function registryOf(
  variables: ReadonlyMap<string, string>,
  prefix: string,
): { readonly settings: RegistrySettings | undefined; readonly ignored: readonly string[] } {
  const unreadable = [...variables.keys()].find((suffix) => suffix === "CA" || suffix.startsWith("SSL_"));
  if (unreadable !== undefined) {
    refuse(`${prefix}${unreadable} cannot be read: name the file of the registry's certificate in NODE_EXTRA_CA_CERTS`);
  }
  const ignored = [...variables.keys()].filter((suffix) => !registryNames.includes(suffix)).map((suffix) => `${prefix}${suffix}`);
  const urls = (variables.get("URL") ?? "")
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "");
  const auth = registryLogin(variables, prefix);
  if (urls.length > 0) {
    return { settings: { urls, ...(auth && { auth }) }, ignored };
  }
  return auth === undefined ? { settings: undefined, ignored } : refuse(`expected ${prefix}URL beside the registry's login, found none`);
}

function registryLogin(variables: ReadonlyMap<string, string>, prefix: string): RegistrySettings["auth"] {
  const logins = [["USERNAME", "PASSWORD"], ["TOKEN"], ["BASIC_AUTH_USER_INFO"], ["BEARER_AUTH_TOKEN"]].filter((names) =>
    names.some((name) => variables.has(name)),
  );
  if (logins.length > 1) {
    refuse(`${logins.map((names) => prefix + names.find((name) => variables.has(name))).join(" and ")} are two logins: give one of them`);
  }
  const [username, password] = [variables.get("USERNAME"), variables.get("PASSWORD")];
  const bearer = variables.get("TOKEN") ?? variables.get("BEARER_AUTH_TOKEN");
  if (bearer !== undefined) {
    return { bearer };
  }
  if (username !== undefined || password !== undefined) {
    return username !== undefined && password !== undefined
      ? { basic: { username, password } }
      : refuse(`expected ${prefix}USERNAME and ${prefix}PASSWORD, found only one of them`);
  }
  const info = variables.get("BASIC_AUTH_USER_INFO");
  const colon = info?.indexOf(":") ?? 0;
  if (info === undefined || colon < 1) {
    return info === undefined ? undefined : refuse(`expected ${prefix}BASIC_AUTH_USER_INFO to be user:password`);
  }
  return { basic: { username: info.slice(0, colon), password: info.slice(colon + 1) } };
}

/** A slip of the pen has no effect, and nobody would notice. Other names belong to other programs. */
function refuseSlips(unknown: readonly string[], known: readonly string[]): void {
  for (const name of unknown) {
    const meant = didYouMean(name, known, 2);
    // A known one is not read either if something else says that it has no effect: a login without SASL.
    if (meant !== "" && !known.includes(name)) {
      refuse(`the variable ${name} is not known${meant}`);
    }
  }
}

function suffixOf(property: string): string {
  return property.toUpperCase().replaceAll(".", "_");
}
