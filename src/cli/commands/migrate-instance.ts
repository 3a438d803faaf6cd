import { MigratedBody, PreviewBody } from '../../api/schemas/shape.ts';
import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';
import { describePreview } from '../show/preview.ts';

/** Moves a run to another version or sequence. With `--preview` it only says what would become of each block. */
export default defineCliCommand({
  name: 'migrate-instance',
  description: 'Move an instance to another version or sequence, or preview it.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: true },
    target: { type: 'positional', description: 'Id of the sequence to move it to.', required: true },
    preview: { type: 'boolean', description: 'Say what would be kept, dropped and new; change nothing.' },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const body = { instance_id: args.id, target_sequence_id: args.target };
    const { palette } = terminal;
    if (args.preview === true) {
      const told = await client.value.post('/sequences/migrate-instance/preview', body, PreviewBody);
      if (!told.ok) return told;
      if (args.json) terminal.out(JSON.stringify(told.value));
      else for (const line of describePreview(told.value, palette)) terminal.out(line);
      return ok(null);
    }
    const moved = await client.value.post('/sequences/migrate-instance', body, MigratedBody);
    if (!moved.ok) return moved;
    const when = moved.value.pending ? ' as soon as the handlers that run now have ended' : '';
    if (args.json) terminal.out(JSON.stringify(moved.value));
    else terminal.out(`${palette.green('Moved')} ${args.id} to ${args.target}${when}`);
    return ok(null);
  },
});
