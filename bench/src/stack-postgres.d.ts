/** The stack's scripts are typed in JSDoc, which a build does not read: what is used of one here. */
declare module "*/scripts/stack/postgres.mjs" {
  export function startPostgres(options: { readonly dir: string }): Promise<{
    readonly database: {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };
    stop(): Promise<void>;
  }>;
}
