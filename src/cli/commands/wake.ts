import { WokenBody } from '../../api/schemas/signal.ts';
import { TreeBody } from '../../api/schemas/tree.ts';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';
import { printable } from '../terminal.ts';

export default defineCliCommand({
  name: 'wake',
  description: 'End the delays, back-offs and sleeps of an instance now.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: true },
    node: {
      type: 'string',
      valueHint: 'block',
      description: 'Only this block, or this node id (`tree --ids`).',
    },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    const path = `/instances/${encodeURIComponent(args.id)}/wake`;
    const node = args.node === undefined ? ok(null) : await nodeIdOf(client.value, args.id, args.node);
    if (!node.ok) return node;
    const body = node.value === null ? {} : { node_id: node.value };
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The node of a block that waits. A block may stand in several passes, so a name alone may not say which. */
async function nodeIdOf(client: ApiClient, id: string, said: string): Promise<Result<string, Advice>> {
  if (UUID.test(said)) return ok(said);
  const tree = await client.get(`/instances/${encodeURIComponent(id)}/tree`, TreeBody);
  if (!tree.ok) return tree;
  const ofBlock = tree.value.filter((node) => node.block_id === said);
  const waiting = ofBlock.filter((node) => node.wake_at !== null);
  const [first, second] = waiting.length > 0 ? waiting : ofBlock;
  if (first !== undefined && second === undefined) return ok(first.id);
  return err(
    first === undefined
      ? { message: `there is no block ${said} in this instance`, next: 'See `stepwell tree`.' }
      : {
          message: `block ${said} stands there several times`,
          next: 'Give the id of one: `stepwell tree --ids`.',
        },
  );
}
