import { openConnect } from "../../load/connect.ts";
import type { RemoveThing } from "../leftovers.ts";
import { withLogin } from "../thing.ts";

/** @param access used for the Kafka Connect that it names, and for no other */
export function createConnectorRemover(access: string | undefined): RemoveThing {
  return async ({ name, at }) => {
    const connect = openConnect({ url: withLogin(at, [access]) });
    await connect.delete(name);
  };
}
