import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { InstancePage } from '../../api/schemas/instance.ts';
import { VerifiedBody } from '../../api/schemas/run-operations.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs } from '../client/connection.ts';
import { defineCliCommand } from '../command.ts';
import { printable } from '../terminal.ts';

const PAGE = 100;

/** Checks that what is stored of a run follows from its block outputs alone. With `--all`, every run of the tenant. */
export default defineCliCommand({
  name: 'verify',
  description: 'Check that the tree of an instance follows from its recorded outputs.',
  args: {
    id: { type: 'positional', description: 'Instance.', required: false },
    all: { type: 'boolean', description: 'Check all instances of the tenant.' },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const client = connect(args);
    if (!client.ok) return client;
    if ((args.id === undefined) === (args.all !== true)) return err(WHICH);
    const ids = args.id === undefined ? await allIds(client.value) : ok([args.id]);
    if (!ids.ok) return ids;
    let wrong = 0;
    for (const id of ids.value) {
      const answer = await client.value.get(`/instances/${encodeURIComponent(id)}/verify`, VerifiedBody);
      if (!answer.ok) return answer;
      const { ok: holds, differences } = answer.value;
      if (!holds) wrong += 1;
      if (args.json) terminal.out(JSON.stringify(answer.value));
      else if (!holds) {
        terminal.out(`${terminal.palette.red('Differs')} ${id}`);
        for (const line of differences) terminal.out(`  ${printable(line)}`);
      }
    }
    const checked = `${ids.value.length} checked, ${wrong} with differences`;
    if (!args.json) terminal.out(wrong === 0 ? `${terminal.palette.green('Fine')} ${checked}` : checked);
    return wrong === 0 ? ok(null) : err({ message: `${wrong} of the instances differ`, next: NEXT });
  },
});

const WHICH: Advice = {
  message: 'name one instance, or all of them',
  next: 'stepwell verify <instance>, or stepwell verify --all',
};

const NEXT =
  'What is stored of a run does not follow from its outputs. Keep the database as it is and report it; a resume-from of the instance rebuilds what is stored.';

async function allIds(client: ApiClient): Promise<Result<readonly string[], Advice>> {
  const ids: string[] = [];
  for (let query = ''; ; ) {
    // The order of creation meets each run once, also when it changes meanwhile.
    const page = await client.get(`/instances?limit=${PAGE}&order=created${query}`, InstancePage);
    if (!page.ok) return page;
    ids.push(...page.value.items.map(({ id }) => id));
    const { next_cursor: cursor } = page.value;
    if (cursor === undefined) return ok(ids);
    query = `&cursor=${cursor}`;
  }
}
