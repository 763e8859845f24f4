/** What every service is told by its environment, as a deployment would. */
export interface ServiceEnvironment {
  readonly brokers: string[];
  readonly registryUrl: string;
  readonly topic: string;
  readonly groupId: string;
}

export function environment(): ServiceEnvironment {
  return {
    brokers: [required("KAFKA_BROKERS")],
    registryUrl: required("SCHEMA_REGISTRY_URL"),
    topic: required("TOPIC"),
    groupId: required("GROUP_ID"),
  };
}

export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`expected ${name} in the environment, found none`);
  }
  return value;
}

/** One line of JSON on stdout: what the services say of what they did. */
export function say(what: string, facts: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ what, ...facts })}\n`);
}
