import type { ExitCode } from "../../exit-codes.ts";
import { cleanLeftovers } from "../../leftovers/leftovers.ts";
import { createRemover, type RemoverAccess } from "../../leftovers/removers.ts";
import type { Terminal } from "../../terminal.ts";

/** `--clean` of a command that was given these addresses and logins. */
export async function cleanWith(access: RemoverAccess, terminal: Terminal): Promise<ExitCode> {
  const remover = createRemover(access);
  try {
    return await cleanLeftovers({ terminal, remove: remover.remove });
  } finally {
    await remover.close();
  }
}
