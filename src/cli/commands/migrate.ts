import { admitLogin } from '../../adapters/postgres/admit-login.ts';
import { directAddress } from '../../adapters/postgres/connection/address.ts';
import { err, ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { loadSettings } from '../load-settings.ts';
import { migrateServer } from '../open-store.ts';
import { openServerDriver } from '../server-driver.ts';
import { describeDatabase } from '../settings/database-target.ts';
import { printable } from '../terminal.ts';

/** For deployments: migrates a PostgreSQL server once; any number of callers at the same time do no harm. */
export default defineCliCommand({
  name: 'migrate',
  description: 'Bring the PostgreSQL database up to this version.',
  args: {
    login: {
      type: 'string',
      description: 'A login that owns nothing: it is let in to do what processes do.',
      valueHint: 'name',
    },
  },
  run: async ({ login }, terminal) => {
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
    const admission = names.ok && login !== undefined ? await admitLogin(driver, login) : ok(null);
    await driver.close();
    if (!names.ok) return names;
    if (!admission.ok)
      return err({ message: admission.error, next: 'Do that, then run this command again.' });
    const { green, dim } = terminal.palette;
    for (const name of names.value) terminal.out(`${green('Applied')} ${name}`);
    const shown = describeDatabase(settings.databaseUrl);
    terminal.out(names.value.length === 0 ? dim(`${shown} is up to date.`) : dim(`${shown} is ready.`));
    if (admission.value === 'admitted') terminal.out(`${green('Let in')} ${printable(login ?? '')}`);
    return ok(null);
  },
});
