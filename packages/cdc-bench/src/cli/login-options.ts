import { type Command, InvalidArgumentError } from "commander";
import { BenchError } from "../bench-error.ts";
import type { SaslLogin, SaslMechanism } from "../load/connection.ts";
import type { Terminal } from "../terminal.ts";
import { envValue } from "./env-value.ts";

const mechanisms: readonly SaslMechanism[] = ["plain", "scram-sha-256", "scram-sha-512"];
const passwordVariable = "KAFKA_SASL_PASSWORD";

export interface LoginFlags {
  readonly saslMechanism?: SaslMechanism;
  readonly saslUsername?: string;
}

/** The password has no flag: it would stand in the process list and in the shell's history. */
export function addLoginFlags(command: Command): Command {
  return command
    .option("--sasl-mechanism <name>", `${mechanisms.join(", ")} (env KAFKA_SASL_MECHANISM)`, parseMechanism)
    .option("--sasl-username <name>", `who logs in (env KAFKA_SASL_USERNAME); the password only by env ${passwordVariable}`);
}

/** The login, or undefined if none is named. Half a login is a usage error that names the other half. */
export function resolveLogin(flags: LoginFlags, env: Terminal["env"]): SaslLogin | undefined {
  const mechanism = flags.saslMechanism ?? envValue("KAFKA_SASL_MECHANISM", env, parseMechanism);
  const username = flags.saslUsername ?? envValue("KAFKA_SASL_USERNAME", env, String);
  const password = envValue(passwordVariable, env, String);
  if (mechanism === undefined) {
    const lone = flags.saslUsername !== undefined ? "--sasl-username" : username !== undefined ? "KAFKA_SASL_USERNAME" : passwordVariable;
    if (username === undefined && password === undefined) {
      return undefined;
    }
    throw new BenchError("usage", `${lone} goes with --sasl-mechanism (KAFKA_SASL_MECHANISM): ${mechanisms.join(", ")}.`);
  }
  const given = flags.saslMechanism === undefined ? "KAFKA_SASL_MECHANISM" : "--sasl-mechanism";
  if (username === undefined || username === "") {
    throw new BenchError("usage", `${given} goes with --sasl-username (KAFKA_SASL_USERNAME): who logs in?`);
  }
  if (password === undefined) {
    throw new BenchError("usage", `${given} goes with the environment variable ${passwordVariable}, which holds the password.`);
  }
  return { mechanism, username, password };
}

function parseMechanism(text: string): SaslMechanism {
  const found = mechanisms.find((mechanism) => mechanism === text.trim().toLowerCase());
  if (found === undefined) {
    throw new InvalidArgumentError(`It must be one of ${mechanisms.join(", ")}.`);
  }
  return found;
}
