import { ok } from '../../core/result.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { sequenceNames } from '../client/sequence-names.ts';
import { ExplanationBody } from '../../api/schemas/explanation.ts';
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
    const path = `/instances/${encodeURIComponent(args.id)}`;
    const answer = await client.value.get(path, InstanceBody);
    if (!answer.ok) return answer;
    if (args.json) {
      terminal.out(JSON.stringify(answer.value));
      return ok(null);
    }
    // People want to know what it waits for or failed of, which the state alone does not say.
    const [names, explanation] = await Promise.all([
      sequenceNames(client.value, [answer.value.sequence_id]),
      client.value.get(`${path}/explain`, ExplanationBody),
    ]);
    const summary = explanation.ok ? explanation.value.summary : null;
    const name = names.get(answer.value.sequence_id) ?? null;
    for (const line of describeInstance(answer.value, { name, summary }, terminal.palette))
      terminal.out(line);
    return ok(null);
  },
});
