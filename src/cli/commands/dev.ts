import { isLocal, parseAddress } from '../../adapters/postgres/connection/address.ts';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { openServer } from '../compose.ts';
import { LOOPBACK } from '../engine-settings.ts';
import { loadSequences } from '../load-sequences.ts';
import { runServer } from '../run-server.ts';
import { serverArgs } from '../server-flags.ts';
import { describeDatabase } from '../settings/database-target.ts';
import { describeWarning } from '../show/warning.ts';
import type { Settings } from '../../settings/schema.ts';

/**
 * Everything in one process, for a developer's machine: loopback only, no key needed, tenant `default` (RULINGS B19).
 * Who switches the tenant header off in so many words gets what that means everywhere: a call without one sees all
 * tenants (http-api.md 1.4). A database of another machine is taken only where that is said in so many words: the address in
 * the shell is often that of a deployment, whose runs local handlers would carry on.
 */
export default defineCliCommand({
  name: 'dev',
  description: 'Run API and engine on this machine; nothing to configure.',
  args: {
    ...serverArgs,
    sequences: {
      type: 'string',
      valueHint: 'path',
      description: 'File or folder with your own sequences, published at each start when they have changed.',
    },
    'remote-database': {
      type: 'boolean',
      description: 'Take a database that is not on this machine: its runs go on here, with your handlers.',
      default: false,
    },
  },
  run: (args, terminal) =>
    runServer({
      flags: args,
      terminal,
      commandDefaults: { insecure: true, requireTenantHeader: false, runMigrations: true },
      check: (settings) => {
        const listens = checkAddress(settings);
        return listens.ok && !args['remote-database'] ? checkDatabase(settings) : listens;
      },
      open: async (settings, onProgress, given) => {
        const sequences = args.sequences === undefined ? ok([]) : await loadSequences(args.sequences);
        if (!sequences.ok) return sequences;
        return openServer(settings, {
          defaultTenantId: given.has('requireTenantHeader') ? null : 'default',
          onProgress,
          onWarning: (name, warning) => terminal.note(describeWarning(name, warning, terminal.palette)),
          sequences: sequences.value,
        });
      },
    }),
});

function checkAddress({ httpAddr }: Settings): Result<null, Advice> {
  if (LOOPBACK.has(httpAddr.host)) return ok(null);
  return err({
    message: '`stepwell dev` listens on the loopback interface only, as it asks nobody for a key',
    next: 'Take the host out of STEPWELL_HTTP_ADDR, or use `stepwell serve`.',
  });
}

function checkDatabase({ databaseUrl }: Settings): Result<null, Advice> {
  if (databaseUrl.kind !== 'server') return ok(null);
  const url = parseAddress(databaseUrl.url);
  if (url !== null && isLocal(url)) return ok(null);
  return err({
    message: `${describeDatabase(databaseUrl)} is not on this machine, and \`stepwell dev\` would carry on its runs with your handlers`,
    next:
      'For a database of your own: `unset STEPWELL_DATABASE_URL` (or take databaseUrl out of the config file), or give --data .stepwell.\n' +
      'If you mean that database: add --remote-database.',
  });
}
