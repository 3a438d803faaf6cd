import type { Advice } from '../../core/advice.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { StartedBody } from '../../api/schemas/start.ts';
import { SequenceAnswer } from '../client/schemas.ts';
import { findName } from '../client/sequence-names.ts';
import { defineCliCommand } from '../command.ts';
import { readJsonArgument } from '../read-json.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Starts an instance of the newest version of a sequence, or of the version with the given id. */
export default defineCliCommand({
  name: 'start',
  description: 'Start an instance of a sequence.',
  args: {
    sequence: { type: 'positional', description: 'Name, or id of one version.', required: true },
    data: {
      type: 'string',
      valueHint: 'json',
      description: 'Input: JSON, @file or - (standard input).',
      default: '{}',
    },
    key: { type: 'string', description: 'Idempotency key: a repeat gives the first instance.' },
    namespace: {
      type: 'string',
      valueHint: 'name',
      description: 'Namespace of the sequence.',
      default: 'default',
    },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const data = readJsonArgument(args.data, '--data');
    if (!data.ok) return data;
    if (!isJsonObject(data.value)) {
      return err({ message: '--data is not a JSON object', next: `Write it as '{"key": "value"}'.` });
    }
    const client = connect(args);
    if (!client.ok) return client;
    const sequence = await findSequence(client.value, args.sequence, args);
    if (!sequence.ok) return sequence;
    const body: JsonObject = {
      sequence_id: sequence.value.id,
      tenant_id: args.tenant,
      namespace: args.namespace,
      context: { data: data.value },
      ...(args.key === undefined ? {} : { idempotency_key: args.key }),
    };
    const answer = await client.value.post('/instances', body, StartedBody);
    if (!answer.ok) return answer;
    const { green, bold, dim, yellow } = terminal.palette;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else {
      const word = answer.value.deduplicated === true ? yellow('Known key') : green('Started');
      terminal.out(`${word} ${bold(answer.value.id)}`);
      terminal.out(dim(`Next: ${nextCommand(`tree ${answer.value.id}`, args.url)}`));
    }
    return ok(null);
  },
});

async function findSequence(
  client: ApiClient,
  sequence: string,
  { tenant, namespace }: { readonly tenant: string; readonly namespace: string },
): Promise<Result<SequenceAnswer, Advice>> {
  if (UUID.test(sequence)) return client.get(`/sequences/${sequence}`, SequenceAnswer);
  const query = new URLSearchParams({ tenant_id: tenant, namespace, name: sequence });
  const found = await client.get(`/sequences/by-name?${query.toString()}`, SequenceAnswer);
  if (found.ok || !found.error.message.startsWith('not found')) return found;
  const names = await findName(client, { name: sequence, tenant, namespace });
  if (names === null) return found;
  const hints = [
    names.near === undefined ? '' : `Did you mean ${names.near}?`,
    names.elsewhere === undefined ? '' : `There is one in another namespace: --namespace ${names.elsewhere}.`,
    'Publish it first: `stepwell publish <file>`.',
    found.error.next,
  ];
  return err({ message: found.error.message, next: hints.filter((hint) => hint !== '').join('\n') });
}
