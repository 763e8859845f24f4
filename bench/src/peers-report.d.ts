/** The scripts are typed in JSDoc, which a build does not read: what is used of one here. */
declare module "*/scripts/published/peers-report.mjs" {
  /** The table of figures as Markdown. */
  export function peersTable(result: object): string;
  /** The whole report as Markdown. */
  export function peersReport(result: object): string;
}
