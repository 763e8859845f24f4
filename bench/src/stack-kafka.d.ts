/** The stack's scripts are typed in JSDoc, which a build does not read: what is used of one here. */
declare module "*/scripts/stack/kafka.mjs" {
  export function startKafka(options: {
    readonly dir: string;
    readonly config?: Readonly<Record<string, string | number | boolean>>;
    readonly jvm?: readonly string[];
    readonly log?: (line: string) => void;
    readonly signal?: AbortSignal;
  }): Promise<{ readonly brokers: string; readonly classPath: string; readonly record: { readonly pid: number }; stop(): Promise<void> }>;
}
