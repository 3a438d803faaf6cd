import type { Advice } from '../../core/advice.ts';
import type { Json } from '../../core/json.ts';
import { ok, type Result } from '../../core/result.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { SignalSent } from '../../api/schemas/actions.ts';
import { ExplanationBody } from '../../api/schemas/explanation.ts';
import { defineCliCommand } from '../command.ts';
import { readJsonArgument } from '../read-json.ts';
import { printable } from '../terminal.ts';

const PLAIN_TYPES = new Set(['pause', 'resume', 'cancel', 'update_context']);

/** `pause`, `resume`, `cancel` and `update_context` go as they are; any other word is a custom signal's name. */
export default defineCliCommand({
  name: 'signal',
  description: 'Send a signal: pause, resume, cancel, an answer, or your own.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: true },
    type: {
      type: 'positional',
      description:
        'pause, resume, cancel, update_context, or a name of your own; human_input:<block> answers.',
      required: true,
    },
    payload: { type: 'positional', description: 'Payload: JSON, @file or -.', required: false },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const payload: Result<Json, Advice> =
      args.payload === undefined ? ok(null) : readJsonArgument(args.payload, 'the payload');
    if (!payload.ok) return payload;
    const client = connect(args);
    if (!client.ok) return client;
    const name = args.type.replace(/^custom:/, '');
    const body = {
      signal_type: PLAIN_TYPES.has(args.type) ? args.type : { custom: name },
      payload: payload.value,
    };
    const path = `/instances/${encodeURIComponent(args.id)}/signals`;
    const answer = await client.value.post(path, body, SignalSent);
    if (!answer.ok) return answer;
    const { green, yellow, dim } = terminal.palette;
    if (args.json) {
      terminal.out(JSON.stringify(answer.value));
      return ok(null);
    }
    terminal.out(`${green('Accepted')} ${args.type} ${dim(answer.value.signal_id)}`);
    // The answer to a signal costs its sender no look at the sequence; people can wait for one.
    const why = PLAIN_TYPES.has(args.type)
      ? null
      : await whyUnheard(client.value, args.id, answer.value.signal_id);
    if (why !== null) terminal.out(`${yellow('Without effect')}: ${printable(why)}`);
    return ok(null);
  },
});

/** Why nothing in the run waits for the signal, or takes it; null when something may, and when it cannot be found out. */
async function whyUnheard(client: ApiClient, id: string, signalId: string): Promise<string | null> {
  const answer = await client.get(`/instances/${encodeURIComponent(id)}/explain`, ExplanationBody);
  if (!answer.ok) return null;
  return answer.value.unheard_signals.find((signal) => signal.signal_id === signalId)?.detail ?? null;
}
