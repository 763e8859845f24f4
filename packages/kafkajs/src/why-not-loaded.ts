/** Why kafkajs could not be loaded, and what to do. */
export function whyNotLoaded(error: unknown): string {
  const { code, message = String(error) } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    return `${message.split("\n")[0]}. Install it beside this package: npm install kafkajs`;
  }
  // The error of esbuild's replacement for `require`, which CommonJS modules call for Node's own modules.
  if (message.startsWith("Dynamic require of ")) {
    return (
      `${message}. It is bundled into an ES module, and those have no require: leave it out of the bundle (esbuild: --external:kafkajs), ` +
      `bundle to CommonJS (--format=cjs), or give the bundle a require (--banner:js="import { createRequire } from 'node:module'; ` +
      `const require = createRequire(import.meta.url);")`
    );
  }
  return message;
}
