import { directAddress } from '../../adapters/postgres/connection/address.ts';
import { err, ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { loadSettings } from '../load-settings.ts';
import { migrateServer } from '../open-store.ts';
import { openServerDriver } from '../server-driver.ts';
import { describeDatabase } from '../settings/database-target.ts';

/** For deployments: migrates a PostgreSQL server once; any number of callers at the same time do no harm. */
export default defineCliCommand({
  name: 'migrate',
  description: 'Bring the PostgreSQL database up to this version.',
  args: {},
  run: async (_args, terminal) => {
    const resolved = await loadSettings([], {});
    if (!resolved.ok) return resolved;
    const { settings } = resolved.value;
    if (settings.databaseUrl.kind !== 'server') {
      return err({
        message: 'there is no server to migrate',
        next: 'Set STEPWELL_DATABASE_URL to a PostgreSQL URL. Embedded databases migrate themselves at start.',
      });
    }
    const driver = openServerDriver(directAddress(settings.databaseUrl.url), settings, 1);
    const names = await migrateServer(driver, settings, () => {});
    await driver.close();
    if (!names.ok) return names;
    const { green, dim } = terminal.palette;
    for (const name of names.value) terminal.out(`${green('Applied')} ${name}`);
    const shown = describeDatabase(settings.databaseUrl);
    terminal.out(names.value.length === 0 ? dim(`${shown} is up to date.`) : dim(`${shown} is ready.`));
    return ok(null);
  },
});
