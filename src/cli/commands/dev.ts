import { err, ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { openServer } from '../compose.ts';
import { LOOPBACK } from '../engine-settings.ts';
import { loadSequences } from '../load-sequences.ts';
import { runServer } from '../run-server.ts';
import { serverArgs } from '../server-flags.ts';

/**
 * Everything in one process, for a developer's machine: loopback only, no key needed, tenant `default` (RULINGS B19).
 * Who switches the tenant header off in so many words gets what that means everywhere: a call without one sees all
 * tenants (http-api.md 1.4).
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
  },
  run: (args, terminal) =>
    runServer({
      flags: args,
      terminal,
      commandDefaults: { insecure: true, requireTenantHeader: false, runMigrations: true },
      check: (settings) =>
        LOOPBACK.has(settings.httpAddr.host)
          ? ok(null)
          : err({
              message: '`stepwell dev` listens on the loopback interface only, as it asks nobody for a key',
              next: 'Take the host out of STEPWELL_HTTP_ADDR, or use `stepwell serve`.',
            }),
      open: async (settings, onProgress, given) => {
        const sequences = args.sequences === undefined ? ok([]) : await loadSequences(args.sequences);
        if (!sequences.ok) return sequences;
        return openServer(settings, {
          defaultTenantId: given.has('requireTenantHeader') ? null : 'default',
          onProgress,
          sequences: sequences.value,
        });
      },
    }),
});
