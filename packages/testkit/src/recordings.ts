import { fileURLToPath } from "node:url";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A recording that ships with this package. */
export interface BundledRecording {
  /** The folder and the topic: `postgres-debezium-3.5/tav.inv.toast`. */
  readonly name: string;
  /** The path of the recording in this package: NDJSON, packed with gzip if the name ends in `.gz`. */
  readonly file: string;
  /** The schemas that its messages refer to, as `fromBundle` of `@cdckit/registry` reads them. */
  readonly schemasFile: string;
}

/** The folder of the recordings that ship with this package; its README.md says what they are. Empty in a bundle, which does not have them. */
export const recordingsFolder: string = folderBeside(import.meta.url);

/** esbuild gives a bundle in CommonJS no URL. The rest of the package works in it all the same. */
function folderBeside(url: string | undefined): string {
  const folder = url === undefined ? "" : fileURLToPath(new URL("../recordings/", url));
  return existsSync(folder) ? folder : "";
}

const folders = ["salesorderdetail", "postgres-debezium-3.5"] as const;
const schemasName = "schemas.ndjson";

/** Every recording that ships with this package, in a fixed order. Throws in a bundle, which does not have them. */
export function bundledRecordings(): readonly BundledRecording[] {
  if (recordingsFolder === "") {
    throw new Error("the recordings are files of @cdckit/testkit: leave it out of the bundle (esbuild: --external:@cdckit/testkit)");
  }
  return folders.flatMap((folder) =>
    readdirSync(join(recordingsFolder, folder))
      .filter((name) => name !== schemasName && /\.ndjson(\.gz)?$/.test(name))
      .sort()
      .map((name) => bundled(folder, name)),
  );
}

/** The recording of this name, such as `salesorderdetail/json`. Throws a `RangeError` that lists the names there are. */
export function bundledRecording(name: string): BundledRecording {
  const all = bundledRecordings();
  const found = all.find((recording) => recording.name === name);
  if (found === undefined) {
    throw new RangeError(`no bundled recording is called ${name}; there are ${all.map((recording) => recording.name).join(", ")}`);
  }
  return found;
}

function bundled(folder: string, fileName: string): BundledRecording {
  return {
    name: `${folder}/${fileName.replace(/\.ndjson(\.gz)?$/, "")}`,
    file: join(recordingsFolder, folder, fileName),
    schemasFile: join(recordingsFolder, folder, schemasName),
  };
}
