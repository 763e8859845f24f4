import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const docker = join(import.meta.dirname, "../../docker");

/** One rule of docker/prometheus/alerts.yml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function alertRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(join(docker, "prometheus/alerts.yml"), "utf8")) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

/** The queries of all panels in docker/grafana/dashboards, with values for Grafana's variables. */
export function dashboardQueries(): readonly string[] {
  return readdirSync(join(docker, "grafana/dashboards")).flatMap((name) => {
    const { panels } = JSON.parse(readFileSync(join(docker, "grafana/dashboards", name), "utf8")) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    return panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => expr.replaceAll("$group", ".*").replaceAll("$__rate_interval", "1m").replaceAll("$__range", "30m")),
    );
  });
}

/** The names of our metrics in a query. */
export function metricsIn(query: string): readonly string[] {
  return query.match(/\bcdckit_\w+/g) ?? [];
}
