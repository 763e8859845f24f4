import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BenchError } from "../bench-error.ts";

/** Where the parts of a stack are that `npm run stack:up` of the repository has started. */
export interface StackAddresses {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly converterUrl: string;
  readonly connectUrl: string;
  readonly databaseUrl: string;
}

/** @param folder of `--stack`; undefined: `.stack` in the folder in which the command was started, if there is one */
export function readStackState(folder: string | undefined): StackAddresses | null {
  const file = join(folder ?? ".stack", "state.json");
  if (folder === undefined && !existsSync(file)) {
    return null;
  }
  try {
    const { addresses } = JSON.parse(readFileSync(file, "utf8")) as { readonly addresses: StackFile | null };
    if (addresses !== null) {
      const { user, password, host, port, database } = addresses.postgres;
      const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
      return { ...addresses, databaseUrl: `postgres://${login}@${host}:${port}/${encodeURIComponent(database)}` };
    }
  } catch {
    // Said below: a file that cannot be read and a stack that is not up want the same of the user.
  }
  if (folder === undefined) {
    return null; // somebody else's .stack, or one that is not up: flags are asked for
  }
  throw new BenchError("usage", `there is no stack that is up in ${folder}: npm run stack:up -- --dir ${folder} starts one.`);
}

interface StackFile extends Omit<StackAddresses, "databaseUrl"> {
  readonly postgres: {
    readonly user: string;
    readonly password: string;
    readonly host: string;
    readonly port: number;
    readonly database: string;
  };
}
