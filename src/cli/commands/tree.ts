import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { TreeBody } from '../../api/schemas/tree.ts';
import { defineCliCommand } from '../command.ts';
import { drawTree } from '../show/tree.ts';

export default defineCliCommand({
  name: 'tree',
  description: 'Draw the execution tree of an instance.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: true },
    ids: { type: 'boolean', description: 'Show the id of each node too.', default: false },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const answer = await client.value.get(`/instances/${encodeURIComponent(args.id)}/tree`, TreeBody);
    if (!answer.ok) return answer;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else if (answer.value.length === 0) terminal.out('No block has begun yet.');
    else for (const line of drawTree(answer.value, terminal.palette, args.ids)) terminal.out(line);
    return ok(null);
  },
});
