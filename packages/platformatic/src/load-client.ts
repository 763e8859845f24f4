import { PlatformaticDriverError } from "./errors.ts";
import type { PlatformaticModule } from "./low-level-client.ts";

/** Loaded with the first connection, so that users of another client need not install it. `given`: what the application has of it. */
export async function loadClient(given?: object | (() => Promise<object>)): Promise<PlatformaticModule> {
  const name: string = "@platformatic/kafka"; // a variable, so that the compiler asks for no types of an absent package
  const load = typeof given === "function" ? (given as () => Promise<object>) : async () => (given ?? (await import(name))) as object;
  const module: Partial<PlatformaticModule> = await load().catch((error: unknown) => {
    throw notLoaded(error);
  });
  if (typeof module.Connection !== "function" || typeof module.createAPI !== "function") {
    throw new PlatformaticDriverError("invalid-option", "expected client to be the module @platformatic/kafka, with all that it exports");
  }
  return module as PlatformaticModule; // checked above, as far as it can be
}

/** Why the client could not be loaded, and what to do. */
export function notLoaded(error: unknown): PlatformaticDriverError {
  const { message = String(error) } = (error ?? {}) as { readonly message?: string };
  const line = message.split("\n")[0] ?? message;
  return new PlatformaticDriverError(
    "client-missing",
    `the package @platformatic/kafka cannot be loaded in Node ${process.versions.node}: ${line}. ` +
      "Install it beside this package: npm install @platformatic/kafka. Its version 2 needs Node 22.22 or newer; on Node 20 and below 22.22, install @platformatic/kafka@1",
    { cause: error },
  );
}
