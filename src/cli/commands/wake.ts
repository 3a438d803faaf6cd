import { WokenBody } from '../../api/schemas/signal.ts';
import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';
import { printable } from '../terminal.ts';

export default defineCliCommand({
  name: 'wake',
  description: 'End the delays, back-offs and sleeps of an instance now.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: true },
    node: { type: 'string', valueHint: 'id', description: 'Only that of this node of the tree.' },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const path = `/instances/${encodeURIComponent(args.id)}/wake`;
    const body = args.node === undefined ? {} : { node_id: args.node };
    const answer = await client.value.post(path, body, WokenBody);
    if (!answer.ok) return answer;
    const { green, dim } = terminal.palette;
    const { woken } = answer.value;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else if (woken.length === 0)
      terminal.out(dim('Nothing to wake: it waits for no time. See `stepwell explain`.'));
    else
      for (const { reason, block_id: block, wake_at: at } of woken)
        terminal.out(`${green('Woken')} ${reason} ${printable(block ?? '')} ${dim(`was to end ${at}`)}`);
    return ok(null);
  },
});
