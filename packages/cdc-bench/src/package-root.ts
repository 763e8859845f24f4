import { existsSync } from "node:fs";

/** The folder of this package: sources lie deeper in it than the files that are built from them. */
export const packageRoot: URL = rootOf(new URL("./", import.meta.url));

/** The built file that a process or a thread of ours is started with. */
export function programFile(name: string): URL {
  return new URL(`dist/${name}.js`, packageRoot);
}

function rootOf(folder: URL): URL {
  return existsSync(new URL("package.json", folder)) ? folder : rootOf(new URL("../", folder));
}
