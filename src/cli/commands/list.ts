import { InstancePage } from '../../api/schemas/instance.ts';
import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';
import { describeInstances } from '../show/instance-list.ts';

export default defineCliCommand({
  name: 'list',
  description: 'List instances, newest change first.',
  args: {
    state: { type: 'string', valueHint: 'states', description: 'Only these, such as failed,waiting.' },
    sequence: { type: 'string', valueHint: 'name', description: 'Only those of any version of this one.' },
    limit: { type: 'string', valueHint: 'count', description: 'At most 1000.', default: '20' },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const query = new URLSearchParams({ limit: args.limit });
    if (args.state !== undefined) query.set('state', args.state);
    if (args.sequence !== undefined) query.set('sequence_name', args.sequence);
    const answer = await client.value.get(`/instances?${query}`, InstancePage);
    if (!answer.ok) return answer;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else if (answer.value.items.length === 0) terminal.note(terminal.palette.dim('There are none.'));
    else for (const line of describeInstances(answer.value, terminal.palette)) terminal.out(line);
    return ok(null);
  },
});
