/**
 * The compiler leaves the declarations that it wrote for a source that has since been renamed or deleted, and earlier builds wrote a script
 * beside each. They would be packed, so every build takes them away. bundle.mjs sees to the scripts in `dist` itself.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Deletes the files in the `dist` of every package that no source of it accounts for.
 * @param {string} root
 */
export function removeStaleOutput(root) {
  for (const name of readdirSync(join(root, "packages"))) {
    removeOrphans(join(root, "packages", name, "dist"), join(root, "packages", name, "src"), /^$/);
  }
}

/**
 * @param {string} output
 * @param {string} source
 * @param {RegExp} alwaysStale
 */
function removeOrphans(output, source, alwaysStale) {
  if (!existsSync(output)) {
    return;
  }
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      removeOrphans(join(output, entry.name), join(source, entry.name), script);
    } else if (alwaysStale.test(entry.name) || isOrphan(entry.name, source)) {
      rmSync(join(output, entry.name), { force: true }); // another build may have been faster
    }
  }
}

/**
 * @param {string} name
 * @param {string} source
 */
function isOrphan(name, source) {
  return declaration.test(name) && !existsSync(join(source, name.replace(declaration, ".ts")));
}

const declaration = /\.d\.ts$/;
const script = /\.js(\.map)?$/;
