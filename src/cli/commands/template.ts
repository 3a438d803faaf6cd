import { ok } from '../../core/result.ts';
import { defineCliCommand } from '../command.ts';
import { shippedTemplate } from '../embedded-database.ts';

/** For the package's own `prepare`: the first `stepwell dev` then starts in a second. */
export default defineCliCommand({
  name: 'template',
  description: 'Build the template of the embedded database.',
  hidden: true,
  args: {},
  run: async (_args, terminal) => {
    await shippedTemplate((text) => terminal.note(text));
    return ok(null);
  },
});
