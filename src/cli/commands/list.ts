import { systemClock } from '../../adapters/system.ts';
import { InstancePage } from '../../api/schemas/instance.ts';
import { InstanceStateName } from '../../api/schemas/wire-values.ts';
import type { Advice } from '../../core/advice.ts';
import { nearestName } from '../../core/definition/did-you-mean.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { failuresOf } from '../client/failures.ts';
import { findName, sequenceNames } from '../client/sequence-names.ts';
import { defineCliCommand } from '../command.ts';
import { docPath } from '../package-facts.ts';
import { describeInstances } from '../show/instance-list.ts';

const LIMIT_MAX = 1000;

export default defineCliCommand({
  name: 'list',
  description: 'List instances, newest change first.',
  args: {
    state: { type: 'string', valueHint: 'states', description: 'Only these, such as failed,waiting.' },
    sequence: { type: 'string', valueHint: 'name', description: 'Only those of any version of this one.' },
    limit: { type: 'string', valueHint: 'count', description: 'From 1 to 1000.', default: '20' },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const query = readQuery(args);
    if (!query.ok) return query;
    const client = connect(args);
    if (!client.ok) return client;
    const answer = await client.value.get(`/instances?${query.value}`, InstancePage);
    if (!answer.ok) return answer;
    const { items } = answer.value;
    if (args.json) terminal.out(JSON.stringify(answer.value));
    else if (items.length === 0) return await sayNone(client.value, args, terminal.note);
    else {
      const hasFailed = items.some(({ state }) => state === 'failed');
      const [names, failures] = await Promise.all([
        sequenceNames(
          client.value,
          items.map((item) => item.sequence_id),
        ),
        hasFailed ? failuresOf(client.value, query.value) : new Map<string, string>(),
      ]);
      const facts = { names, failures, nowMs: systemClock.nowMs() };
      for (const line of describeInstances(answer.value, facts, terminal.palette)) terminal.out(line);
    }
    return ok(null);
  },
});

interface Flags {
  readonly state?: string | undefined;
  readonly sequence?: string | undefined;
  readonly tenant: string;
  readonly limit: string;
}

function readQuery({ state, sequence, limit }: Flags): Result<URLSearchParams, Advice> {
  if (!/^[0-9]{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX) {
    const next = `With --json the answer has next_cursor for what is beyond; see ${docPath('instance-lists.md')}.`;
    return err({ message: `--limit must be a whole number from 1 to ${LIMIT_MAX}`, next });
  }
  const query = new URLSearchParams({ limit });
  if (state !== undefined) {
    const known: readonly string[] = InstanceStateName.options;
    const wrong = state.split(',').find((word) => !known.includes(word.trim()));
    if (wrong !== undefined) {
      const near = nearestName(wrong, known);
      const hint = near === undefined ? '' : ` Did you mean ${near}?`;
      return err({ message: `${wrong} is no state`, next: `The states are ${known.join(', ')}.${hint}` });
    }
    query.set('state', state);
  }
  if (sequence !== undefined) query.set('sequence_name', sequence);
  return ok(query);
}

/** An empty list may be a misspelt name, or a wait that goes by another state than people think. */
async function sayNone(
  client: ApiClient,
  { sequence, state, tenant }: Flags,
  note: (line: string) => void,
): Promise<Result<null, Advice>> {
  if (sequence !== undefined) {
    const found = await findName(client, { name: sequence, tenant, namespace: null });
    if (found !== null && !found.isThere) {
      const next =
        found.near === undefined
          ? 'Publish it with `stepwell publish`; see --tenant.'
          : `Did you mean ${found.near}?`;
      return err({ message: `there is no sequence ${sequence} in tenant ${tenant}`, next });
    }
  }
  note('There are none.');
  if (state?.split(',').some((word) => word.trim() === 'waiting') === true) {
    note(
      'Runs that wait for a time are scheduled (delays, retries) or running (sleeps): --state scheduled,running.',
    );
  }
  return ok(null);
}
