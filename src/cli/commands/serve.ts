import { err, ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { openServer } from '../compose.ts';
import { runServer } from '../run-server.ts';
import { serverArgs } from '../server-flags.ts';

/** API and engine for others to use: needs a root key, and a database that somebody migrates (RULINGS B19). */
export default defineCliCommand({
  name: 'serve',
  description: 'Run API and engine for others: needs a root key.',
  args: serverArgs,
  run: (args, terminal) =>
    runServer({
      flags: args,
      terminal,
      commandDefaults: {},
      check: (settings) =>
        settings.apiKey !== undefined || settings.insecure
          ? ok(null)
          : err({
              message: 'there is no root key, so anybody could do anything',
              next:
                'Set STEPWELL_API_KEY to a long random text, e.g. of `openssl rand -hex 32`.\n' +
                'Where the network itself keeps strangers out, STEPWELL_INSECURE=1 starts without one.\n' +
                'On your own machine `stepwell dev` is what you want.',
            }),
      open: (settings, onProgress) => openServer(settings, { defaultTenantId: null, onProgress }),
    }),
});
