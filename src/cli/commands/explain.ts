import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { ExplanationBody } from '../../api/schemas/explanation.ts';
import { defineCliCommand } from '../command.ts';
import { describeExplanation } from '../show/explanation.ts';

export default defineCliCommand({
  name: 'explain',
  description: 'Say what an instance waits for and what comes next.',
  args: { id: { type: 'positional', description: 'Instance.', required: true }, ...connectionArgs },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const path = `/instances/${encodeURIComponent(args.id)}/explain`;
    const answer = await client.value.get(path, ExplanationBody);
    if (!answer.ok) return answer;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else for (const line of describeExplanation(answer.value, terminal.palette)) terminal.out(line);
    return ok(null);
  },
});
