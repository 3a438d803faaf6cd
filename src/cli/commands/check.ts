import { err, ok } from '../../core/result.ts';
import { PreflightBody } from '../../api/schemas/preflight.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { fillIn, readDrafts } from '../client/draft-document.ts';
import { defineCliCommand } from '../command.ts';
import { describePreflight } from '../show/preflight.ts';

/** Checks documents against a server without publishing them. Warnings alone are no failure. */
export default defineCliCommand({
  name: 'check',
  description: 'Check whether sequences of a file or folder could run, without publishing.',
  args: {
    file: { type: 'positional', description: 'JSON, a module (.ts, .mjs) or a folder.', required: true },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const drafts = await readDrafts(args.file);
    if (!drafts.ok) return drafts;
    let [bad, all] = [0, 0];
    for (const draft of drafts.value) {
      const filled = await fillIn(draft, client.value, args.tenant);
      if (!filled.ok) return filled;
      const answer = await client.value.post('/sequences/preflight', filled.value.document, PreflightBody);
      if (!answer.ok) return answer;
      const { checks } = answer.value;
      if (args.json) terminal.out(JSON.stringify(answer.value));
      else for (const line of describePreflight(answer.value, terminal.palette)) terminal.out(line);
      bad += checks.filter(({ status }) => status === 'fail' || status === 'unknown').length;
      all += checks.length;
    }
    if (bad === 0) {
      if (!args.json) {
        terminal.out(terminal.palette.dim(`Next: ${nextCommand(`publish ${args.file}`, args.url)}`));
      }
      return ok(null);
    }
    return err({
      message: `${bad} of ${all} checks did not pass`,
      next: 'Correct what is marked and check again. A publish refuses only a definition or schema that is not valid.',
    });
  },
});
