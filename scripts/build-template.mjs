import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Builds the migrated template database in dist/, so that the first `npm start` is as fast as the later ones. */
if (existsSync('dist/cli.js')) {
  const built = spawnSync(process.execPath, ['dist/cli.js', 'template'], { stdio: 'inherit' });
  process.exit(built.status ?? 1);
}
