/**
 * The compiler leaves what it wrote for a source that has since been renamed or deleted. It would be packed, and a test could still import
 * it, so every build takes it away.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Deletes the files in the `dist` of every package that no source of it accounts for.
 * @param {string} root
 */
export function removeStaleOutput(root) {
  for (const name of readdirSync(join(root, "packages"))) {
    removeOrphans(join(root, "packages", name, "dist"), join(root, "packages", name, "src"));
  }
}

/**
 * @param {string} output
 * @param {string} source
 */
function removeOrphans(output, source) {
  if (!existsSync(output)) {
    return;
  }
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      removeOrphans(join(output, entry.name), join(source, entry.name));
    } else if (written.test(entry.name) && !existsSync(join(source, entry.name.replace(written, ".ts")))) {
      rmSync(join(output, entry.name), { force: true }); // another build may have been faster
    }
  }
}

const written = /\.(d\.ts|js)(\.map)?$/;
