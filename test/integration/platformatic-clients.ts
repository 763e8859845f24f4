import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A major of the client. `client` loads it, and is absent for the one that the driver loads by itself. */
export interface PlatformaticClient {
  readonly major: number;
  readonly client?: () => Promise<object>;
}

const [nodeMajor = 0, nodeMinor = 0] = process.versions.node.split(".").map(Number);
const runsTwo = nodeMajor > 24 || (nodeMajor === 24 && nodeMinor >= 6) || (nodeMajor === 22 && nodeMinor >= 22);

/** Why there is no second major here; empty if there is. */
export const withoutTwo: string = runsTwo
  ? ""
  : `@platformatic/kafka 2 does not run in Node ${process.versions.node}: \`npm run test:nodes -- test/integration/platformatic\` runs it in newer ones`;

/** The majors of the client that run in this version of Node. */
export const platformaticClients: readonly PlatformaticClient[] = [{ major: 1 }, ...(runsTwo ? [{ major: 2, client: loadTwo }] : [])];

async function loadTwo(): Promise<object> {
  const found = createRequire(join(import.meta.dirname, "../../majors/platformatic-2/package.json")).resolve("@platformatic/kafka");
  return (await import(pathToFileURL(found).href)) as object;
}
