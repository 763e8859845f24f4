import { environmentLine } from "../report/environment.ts";
import type { BenchResult } from "../result/bench-result.ts";
import { verdictText } from "../verdict/verdict.ts";
import type { Section } from "../presentation/document.ts";
import { profileSection } from "./profile-section.ts";

/** What stands below the figures of every document: where the time went, if that was recorded, what was demanded, what to know, how it was measured, and on what. */
export function footOf(result: BenchResult): readonly Section[] {
  const demanded = verdictText(result).trimEnd();
  const verdict: readonly Section[] =
    demanded === "" ? [] : [{ title: "Demanded", blocks: [{ kind: "code", language: "text", text: demanded }] }];
  const notes: readonly Section[] = result.notes.length === 0 ? [] : [{ title: "Notes", blocks: [{ kind: "list", items: result.notes }] }];
  const profile: readonly Section[] = result.profile === undefined ? [] : [profileSection(result.profile)];
  return [
    ...profile,
    ...verdict,
    ...notes,
    {
      title: "How it was measured",
      blocks: [
        { kind: "list", items: result.rules },
        { kind: "paragraph", text: environmentLine(result.environment) },
      ],
    },
  ];
}
