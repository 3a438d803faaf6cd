import { systemClock } from '../../adapters/system.ts';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { draftWarnings, refusedDrafts } from '../../engine/publish-drafts.ts';
import { PreflightBody } from '../../api/schemas/preflight.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { fillIn, readDrafts } from '../client/draft-document.ts';
import { defineCliCommand } from '../command.ts';
import { loadSequences } from '../load-sequences.ts';
import { describePreflight } from '../show/preflight.ts';
import { describeWarning } from '../show/warning.ts';
import { printable, type Terminal } from '../terminal.ts';

/**
 * Checks documents without publishing them: against a server, or with `--offline` by what stands in them alone. Warnings
 * alone are no failure.
 */
export default defineCliCommand({
  name: 'check',
  description: 'Check whether sequences of a file or folder could run, without publishing.',
  args: {
    file: { type: 'positional', description: 'JSON, a module (.ts, .mjs) or a folder.', required: true },
    offline: {
      type: 'boolean',
      description: 'Ask no server: say what any would refuse or warn of, handler names apart.',
      default: false,
    },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    if (args.offline) return checkOffline(args.file, args.tenant, terminal);
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

/** By the rules of a deployment, which reads the same files. */
async function checkOffline(
  file: string,
  tenantId: string,
  { out, palette }: Terminal,
): Promise<Result<null, Advice>> {
  const drafts = await loadSequences(file);
  if (!drafts.ok) return drafts;
  for (const draft of drafts.value) {
    const name = typeof draft['name'] === 'string' ? draft['name'] : file;
    for (const warning of await draftWarnings(systemClock, null, draft)) {
      out(describeWarning(name, warning, palette));
    }
  }
  const [first, ...others] = refusedDrafts({ clock: systemClock }, tenantId, drafts.value).map(
    ({ name, problem }) => `${printable(name)}: ${printable(problem)}`,
  );
  if (first !== undefined) {
    return err({
      message: [first, ...others].join('\n      '),
      next: 'Correct the document and check again.',
    });
  }
  const count = drafts.value.length;
  out(`${palette.green('✔')} ${count} ${count === 1 ? 'sequence' : 'sequences'} would be taken`);
  return ok(null);
}
