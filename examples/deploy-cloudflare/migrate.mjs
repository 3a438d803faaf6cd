// wrangler runs this for each of its commands that bundle, and says in WRANGLER_COMMAND which one it is. A deployment brings the
// database up to date before the new code takes traffic, and does not happen when that fails. wrangler does not say that it only
// tries (`--dry-run`), so a dry run has to: `npm run dry-run`, or STEPWELL_MIGRATE=0.
import { spawnSync } from 'node:child_process';

const { WRANGLER_COMMAND: command = 'deploy', STEPWELL_MIGRATE, npm_lifecycle_event: script } = process.env;

if (command !== 'deploy' || STEPWELL_MIGRATE === '0' || script === 'dry-run') {
  process.stdout.write(`The database is left as it is by this "wrangler ${command}".\n`);
} else {
  const { status } = spawnSync('npx stepwell migrate', { shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (process.exitCode !== 0) {
    process.stderr.write(
      'The deployment was stopped: its database is migrated first. To only try: npm run dry-run, or STEPWELL_MIGRATE=0.\n',
    );
  }
}
