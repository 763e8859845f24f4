import { ConfluentDriverError } from "./errors.ts";
import type { ConfluentModule } from "./low-level-client.ts";

/** Loaded with the first connection, so that users of another client need not install it. */
export async function loadClient(): Promise<ConfluentModule> {
  const name: string = "@confluentinc/kafka-javascript"; // a variable, so that the compiler asks for no types of an absent package
  try {
    return ((await import(name)) as { readonly default: ConfluentModule }).default;
  } catch (error) {
    throw notLoaded(error);
  }
}

/** Why the client could not be loaded, and what to do. */
export function notLoaded(error: unknown): ConfluentDriverError {
  const { code, message = String(error) } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  const line = message.split("\n")[0] ?? message;
  const isMissing = (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && line.includes("@confluentinc/kafka-javascript");
  if (isMissing) {
    return new ConfluentDriverError(
      "client-missing",
      `the package @confluentinc/kafka-javascript cannot be loaded: ${line}. Install it beside this package: npm install @confluentinc/kafka-javascript`,
      { cause: error },
    );
  }
  const runs = `Node ${process.versions.node} (ABI ${process.versions.modules}) on ${process.platform}-${process.arch}`;
  return new ConfluentDriverError(
    "native-part-missing",
    `the native part of @confluentinc/kafka-javascript does not load in ${runs}: ${line}. ` +
      "It is downloaded or compiled when the package is installed, so installing without scripts (--ignore-scripts), for another platform or for " +
      "another version of Node leaves it out: install again on this machine, with CKJS_LINKING=dynamic and a C++ compiler if it must be compiled",
    { cause: error },
  );
}
