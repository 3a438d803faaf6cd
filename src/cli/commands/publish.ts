import type * as z from 'zod';
import type { Advice } from '../../core/advice.ts';
import { ok, type Result } from '../../core/result.ts';
import { PublishedBody } from '../../api/schemas/sequence.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { type DraftDocument, fillIn, readDrafts } from '../client/draft-document.ts';
import { defineCliCommand } from '../command.ts';
import { describeWarning } from '../show/warning.ts';
import { type Palette, printable } from '../terminal.ts';

/** Publishes documents; what a person need not write (id, tenant, namespace, version, time) is filled in. */
export default defineCliCommand({
  name: 'publish',
  description: 'Publish sequences of a file or folder, each as its next version.',
  args: {
    file: { type: 'positional', description: 'JSON, a module (.ts, .mjs) or a folder.', required: true },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const drafts = await readDrafts(args.file);
    if (!drafts.ok) return drafts;
    let first: string | null = null;
    for (const draft of drafts.value) {
      const filled = await fillIn(draft, client.value, args.tenant);
      if (!filled.ok) return filled;
      const answer = await client.value.post('/sequences', filled.value.document, PublishedBody);
      if (!answer.ok) return drafts.value.length === 1 ? answer : named(answer, filled.value);
      first ??= filled.value.name;
      if (args.json) terminal.out(JSON.stringify(answer.value));
      else for (const line of published(filled.value, answer.value, terminal.palette)) terminal.out(line);
    }
    if (first !== null && !args.json) {
      const next = nextCommand(`start ${printable(first)} --data '{}'`, args.url);
      terminal.out(terminal.palette.dim(`Next: ${next}`));
    }
    return ok(null);
  },
});

function published(
  { name, version }: DraftDocument,
  { id, warning_details: warnings = [] }: z.infer<typeof PublishedBody>,
  palette: Palette,
): readonly string[] {
  const { green, bold, dim } = palette;
  return [
    `${green('Published')} ${bold(printable(name))} version ${String(version)} ${dim(id)}`,
    ...warnings.map((warning) => describeWarning(name, warning, palette)),
  ];
}

/** Of several, which one; those before it are published. */
function named(answer: Result<never, Advice>, { name }: DraftDocument): Result<never, Advice> {
  if (answer.ok) return answer;
  const { message, next } = answer.error;
  return { ok: false, error: { message: `${printable(name)}: ${message}`, next } };
}
