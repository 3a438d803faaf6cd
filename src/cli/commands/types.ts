import { err, ok } from '../../core/result.ts';
import { DataflowBody } from '../../api/schemas/dataflow.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { fillIn, readDrafts } from '../client/draft-document.ts';
import { defineCliCommand } from '../command.ts';

const LANGUAGES = ['typescript', 'python', 'swift', 'kotlin'] as const;

/** Prints types of a sequence's input and outputs, made from its schemas. The same document gives the same bytes. */
export default defineCliCommand({
  name: 'types',
  description: 'Print types of the input and outputs of a sequence in a file.',
  args: {
    file: { type: 'positional', description: 'JSON, a module (.ts, .mjs) or a folder.', required: true },
    sequence: { type: 'string', valueHint: 'name', description: 'Which one, where there are several.' },
    language: {
      type: 'string',
      valueHint: 'name',
      description: `One of ${LANGUAGES.join(', ')}.`,
      default: 'typescript',
    },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const language = LANGUAGES.find((known) => known === args.language);
    if (language === undefined) {
      return err({ message: `no types for ${args.language}`, next: `Take one of ${LANGUAGES.join(', ')}.` });
    }
    const client = connect(args);
    if (!client.ok) return client;
    const drafts = await readDrafts(args.file);
    if (!drafts.ok) return drafts;
    const names = drafts.value.map(({ name }) => name);
    const [only, second] = drafts.value.filter(
      ({ name }) => args.sequence === undefined || name === args.sequence,
    );
    if (only === undefined || second !== undefined) {
      const problem = only === undefined ? `no ${args.sequence ?? 'sequence'}` : 'several sequences';
      return err({
        message: `${args.file} holds ${problem}`,
        next: `Say which with --sequence: ${names.join(', ')}.`,
      });
    }
    const draft = await fillIn(only, client.value, args.tenant);
    if (!draft.ok) return draft;
    const answer = await client.value.post('/sequences/dataflow', draft.value.document, DataflowBody);
    if (!answer.ok) return answer;
    const { generated } = answer.value;
    terminal.out(args.json ? JSON.stringify(answer.value) : generated[language].trimEnd());
    return ok(null);
  },
});
