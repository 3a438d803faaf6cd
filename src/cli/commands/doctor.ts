import { ok } from '../../core/result.ts';
import { type Check, checkDatabase, checkHandlers, checkNode, checkPort } from '../checks.ts';
import { defineCliCommand } from '../command.ts';
import { loadSettings } from '../load-settings.ts';
import { serverArgs, settingsOfFlags, withPort } from '../server-flags.ts';

/** Looks at everything that a start needs and changes nothing. The exit code is 1 when something is wrong. */
export default defineCliCommand({
  name: 'doctor',
  description: 'Check what a start needs; changes nothing.',
  args: {
    port: serverArgs.port,
    data: serverArgs.data,
    handlers: serverArgs.handlers,
    json: { type: 'boolean', description: 'Print JSON.', default: false },
  },
  run: async (args, terminal) => {
    const flags = settingsOfFlags({ ...args, json: false, quiet: false });
    const resolved = await loadSettings(flags, { insecure: true, requireTenantHeader: false });
    if (!resolved.ok) return resolved;
    const { warnings } = resolved.value;
    const withFlags = withPort(resolved.value.settings, args.port);
    if (!withFlags.ok) return withFlags;
    const settings = withFlags.value;
    const { isRunning, ...port } = await checkPort(settings);
    const checks: readonly Check[] = [
      checkNode(),
      ...warnings.map((detail): Check => ({ name: 'settings', state: 'warning', detail, next: null })),
      await checkHandlers(settings),
      await checkDatabase(settings, isRunning),
      port,
    ];
    if (checks.some(({ state }) => state === 'wrong')) process.exitCode = 1;
    if (args.json) {
      terminal.out(JSON.stringify(checks));
      return ok(null);
    }
    const { green, yellow, red, bold } = terminal.palette;
    const marks = { fine: green('✔'), warning: yellow('!'), wrong: red('✖') };
    for (const { name, state, detail, next } of checks) {
      terminal.out(`${marks[state]} ${bold(name.padEnd(9))} ${detail}`);
      if (next !== null) for (const line of next.split('\n')) terminal.out(`            ${line}`);
    }
    return ok(null);
  },
});
