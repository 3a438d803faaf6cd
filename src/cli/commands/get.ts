import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { InstanceBody } from '../../api/schemas/instance.ts';
import { defineCliCommand } from '../command.ts';
import { describeInstance } from '../show/instance.ts';

export default defineCliCommand({
  name: 'get',
  description: 'Show an instance: its state and its data.',
  args: { id: { type: 'positional', description: 'Instance.', required: true }, ...connectionArgs },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const answer = await client.value.get(`/instances/${encodeURIComponent(args.id)}`, InstanceBody);
    if (!answer.ok) return answer;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else for (const line of describeInstance(answer.value, terminal.palette)) terminal.out(line);
    return ok(null);
  },
});
