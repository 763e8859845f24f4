/** The options of vitest that the commands for tests take. vitest itself takes any name: a misspelt one would have no effect. */
export const vitestOptions = [
  ...["testNamePattern", "t", "project", "update", "u", "updateSnapshot", "bail", "retry", "shard", "exclude", "maxWorkers"],
  ...["testTimeout", "hookTimeout", "no-file-parallelism"],
];

export const vitestOptionsText = `  -t, --testNamePattern REGEX  only tests whose names match
  --project NAME               only this project of vitest.config.ts
  -u, --update                 write snapshots again
  --bail N                     end after N failures
  --retry N                    run a test that fails again, N times at most
  --shard I/N                  the part I of N parts of the files
  --exclude GLOB               without these files
  --maxWorkers N               how many files run at a time
  --testTimeout MS, --hookTimeout MS
  --no-file-parallelism        one file after the other`;
