import { ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { wrapped } from '../terminal.ts';
import { describeSettings, markdownRow } from '../settings/describe.ts';

/** Lists all settings with their defaults; never the values in force, since some are secrets. */
export default defineCliCommand({
  name: 'settings',
  description: 'List all settings with their defaults.',
  args: {
    json: { type: 'boolean', description: 'Print JSON.', default: false },
    markdown: { type: 'boolean', description: 'Print the rows of docs/settings.md.', default: false },
  },
  run: async (args, terminal) => {
    const rows = describeSettings();
    const { bold, dim, cyan } = terminal.palette;
    if (args.json) terminal.out(JSON.stringify(rows));
    else if (args.markdown) for (const row of rows) terminal.out(markdownRow(row));
    else {
      for (const { name, takes, standard, about } of rows) {
        terminal.out(`${bold(name)} ${standard === '' ? dim('not set') : cyan(standard)}`);
        const width = (process.stdout.columns ?? Number.POSITIVE_INFINITY) - 2;
        for (const line of wrapped(`${about} Takes ${takes}.`, width)) terminal.out(`  ${line}`);
      }
    }
    return ok(null);
  },
});
