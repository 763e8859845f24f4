// Written by scripts/repository.mjs. Packages of which one needs only the other's types have a copy each.

/** The address of the page about an error code: what happened, why, and what to do. */
export function helpUrlOf(code: string): string {
  return `https://github.com/OWNER/cdckit/blob/main/docs/errors/${code}.md`;
}
