/** The stack's scripts are typed in JSDoc, which a build does not read: what is used of one here. */
declare module "*/scripts/stack/versions.mjs" {
  export const versions: { readonly kafka: string };
}
