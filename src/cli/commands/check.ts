import { err, ok } from '../../core/result.ts';
import { PreflightBody } from '../../api/schemas/preflight.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { readDraftFile } from '../client/draft-document.ts';
import { defineCliCommand } from '../command.ts';
import { describePreflight } from '../show/preflight.ts';

/** Checks a document against a server without publishing it. Warnings alone are no failure. */
export default defineCliCommand({
  name: 'check',
  description: 'Check whether a sequence from a JSON file could run, without publishing it.',
  args: {
    file: { type: 'positional', description: 'The document.', required: true },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const draft = await readDraftFile(args.file, client.value, args.tenant);
    if (!draft.ok) return draft;
    const answer = await client.value.post('/sequences/preflight', draft.value.document, PreflightBody);
    if (!answer.ok) return answer;
    const { overall, checks } = answer.value;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else for (const line of describePreflight(answer.value, terminal.palette)) terminal.out(line);
    if (overall !== 'fail' && overall !== 'unknown') {
      if (!args.json) {
        terminal.out(terminal.palette.dim(`Next: ${nextCommand(`publish ${args.file}`, args.url)}`));
      }
      return ok(null);
    }
    const bad = checks.filter(({ status }) => status === 'fail' || status === 'unknown').length;
    return err({
      message: `${bad} of ${checks.length} checks did not pass`,
      next: 'Correct what is marked and check again. A publish refuses only a definition or schema that is not valid.',
    });
  },
});
