import { ok } from '../../core/result.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { readDraftFile } from '../client/draft-document.ts';
import { PublishedBody } from '../../api/schemas/sequence.ts';
import { defineCliCommand } from '../command.ts';
import { printable } from '../terminal.ts';

/** Publishes a document; what a person need not write (id, tenant, namespace, version, time) is filled in. */
export default defineCliCommand({
  name: 'publish',
  description: 'Publish a sequence from a JSON file.',
  args: {
    file: { type: 'positional', description: 'The document.', required: true },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const draft = await readDraftFile(args.file, client.value, args.tenant);
    if (!draft.ok) return draft;
    const answer = await client.value.post('/sequences', draft.value.document, PublishedBody);
    if (!answer.ok) return answer;
    if (args.json) {
      terminal.out(JSON.stringify(answer.value));
      return ok(null);
    }
    const { green, bold, dim, yellow } = terminal.palette;
    const name = printable(draft.value.name);
    terminal.out(
      `${green('Published')} ${bold(name)} version ${String(draft.value.version)} ${dim(answer.value.id)}`,
    );
    for (const warning of answer.value.warnings ?? []) {
      terminal.out(`${yellow('Warning')} ${printable(warning)}`);
    }
    terminal.out(dim(`Next: ${nextCommand(`start ${name} --data '{}'`, args.url)}`));
    return ok(null);
  },
});
