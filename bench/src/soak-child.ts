import { runSoakMember, type SoakMemberOptions } from "./cases/soak-member.ts";

await runSoakMember(JSON.parse(process.argv[2] ?? "{}") as SoakMemberOptions);
