/** The Kubernetes manifests by the schemas of Kubernetes and KEDA, which come from npm: `npm run test:packages`. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { fetchedPackages } from "../../scripts/fetched-packages.mjs";

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

type Models = Readonly<Record<string, new (manifest: unknown) => { validate(): void }>>;

const isAskedFor = process.env["PACKAGES_IN_PROJECTS"] === "1";
const skipReason = "the schemas of Kubernetes come from npm: npm run test:packages";
const folder = join(import.meta.dirname, "../../docker/kubernetes");
const manifests = ["service.yml", "scaled-object.yml", "scaled-object-login.yml"].flatMap((name) =>
  parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((document) => document.toJS() as Manifest),
);

/** Throws what the schema of its kind says against a manifest. */
function judge(manifest: Manifest): void {
  const modules = fetchedPackages("kubernetes-models", { "kubernetes-models": "4.5.1", "@kubernetes-models/keda": "0.4.2" });
  const load = createRequire(join(modules, "x.js"));
  const isKeda = manifest.apiVersion.startsWith("keda.sh/");
  const models = load(`${isKeda ? "@kubernetes-models/keda" : "kubernetes-models"}/${manifest.apiVersion}`) as Models;
  const Model = models[manifest.kind];
  if (Model === undefined) {
    throw new Error(`${manifest.apiVersion} has no ${manifest.kind}`);
  }
  new Model(manifest).validate();
}

describe.skipIf(!isAskedFor)("the manifests of docker/kubernetes", { meta: { skipReason } }, () => {
  test("are valid for Kubernetes and KEDA", () => {
    const kinds = [
      "ConfigMap",
      "Secret",
      "ConfigMap",
      "Deployment",
      "PodDisruptionBudget",
      "ScaledObject",
      "Secret",
      "TriggerAuthentication",
      "ScaledObject",
    ];
    expect(manifests.map(({ kind }) => kind)).toEqual(kinds);
    for (const manifest of manifests) {
      judge(manifest);
    }
  });

  test("are judged: what lacks a part is refused", () => {
    expect(() => judge({ apiVersion: "apps/v1", kind: "Deployment", spec: {} } as Manifest)).toThrow(/required property/);
    expect(() => judge({ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", spec: { triggers: 1 } } as Manifest)).toThrow(/triggers/);
    const authentication = { apiVersion: "keda.sh/v1alpha1", kind: "TriggerAuthentication", spec: { secretTargetRef: [{ key: "x" }] } };
    expect(() => judge(authentication)).toThrow(/required property/);
  });
});
