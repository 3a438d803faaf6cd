import * as z from 'zod';
import { err, ok } from '../../core/result.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';

const Retried = z.looseObject({ id: z.string(), state: z.string() });

/** What has completed stays; the run goes on where it failed (docs/going-back.md). */
export default defineCliCommand({
  name: 'retry',
  description: 'Put a failed instance back to work, where it failed.',
  args: { id: { type: 'positional', description: 'Instance.', required: true }, ...connectionArgs },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const answer = await client.value.post(`/instances/${encodeURIComponent(args.id)}/retry`, {}, Retried);
    if (!answer.ok) {
      const { message } = answer.error;
      const isOpen = message.includes('cannot go from');
      return isOpen
        ? err({ message, next: 'Only a failed instance can be retried. See `stepwell explain`.' })
        : answer;
    }
    const { green, bold, dim } = terminal.palette;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else {
      terminal.out(`${green('Back to work')} ${bold(answer.value.id)}`);
      terminal.out(dim(`Next: ${nextCommand(`tree ${answer.value.id}`, args.url)}`));
    }
    return ok(null);
  },
});
