import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What a fresh checkout needs before `npm start`: the bundles, then the migrated template database. */
for (const script of ['scripts/build.mjs', 'scripts/build-template.mjs']) {
  if (existsSync(script) && spawnSync(process.execPath, [script], { stdio: 'inherit' }).status !== 0) {
    console.error(`${script} failed`);
    process.exit(1);
  }
}
