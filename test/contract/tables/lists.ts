import { TENANT } from '../../api/support/api-fixture.ts';
import type { ApiFixture, Body } from '../../api/support/api-fixture.ts';
import { document, startBody } from '../../api/support/documents.ts';
import { ended, takeTurn, waitingForAnswer, waitingForWorker } from '../../api/support/seeded-runs.ts';
import { auditEntry, nextId, row, settleAs } from '../../support/turn-builder.ts';

/** `-name`: descending. */
export type OrderKey = string;

/** A list of http-api.md with its bounds and its order. */
export interface ListRow {
  readonly route: string;
  /** How many rows are shown when nothing is said; null: the list takes no limit. */
  readonly standard: number | null;
  readonly most: number;
  /** `limit=0` is cut to this; absent: an empty page. */
  readonly least?: number;
  readonly parameter?: string;
  readonly hasOffset: boolean;
  /** By what it is ordered, the tie-breaker last. */
  readonly order: readonly OrderKey[];
  readonly rowsOf?: (body: Body) => readonly Body[];
  /** Makes some rows and answers the path of their list. */
  readonly seed: (api: ApiFixture, count: number) => Promise<string>;
}

type Seed = ListRow['seed'];

const items = (body: Body): readonly Body[] => body.items;
const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };

/** Posts a body for each row, the clock moving with every other one, so that some are made at one instant. */
const posting =
  (path: string, list: string, bodyOf: (index: number) => object): Seed =>
  async (api, count) => {
    for (let index = 0; index < count; index += 1) {
      if (index % 2 === 0) api.clock.now += 1;
      const reply = await api.call('POST', path, { body: bodyOf(index) });
      if (reply.status >= 300) throw new Error(`${path} answered ${reply.status} ${reply.text}`);
    }
    return list;
  };

/** Names whose order is not that of their creation. */
const name = (index: number): string => `n-${String((index * 7919) % 1009).padStart(4, '0')}`;

const publishing: Seed = posting('/sequences', '/sequences', (index) =>
  document({ name: `n-${index % 3}`, version: index }),
);

async function sequence(api: ApiFixture): Promise<string> {
  const body = document({ name: 'listed' });
  await api.call('POST', '/sequences', { body });
  return body.id;
}

const starting =
  (list: string, more: (index: number) => object = () => ({})): Seed =>
  async (api, count) => {
    const id = await sequence(api);
    return posting('/instances', list, (index) => startBody(id, { ...more(index) }))(api, count);
  };

const seeding =
  (list: string, one: (api: ApiFixture) => Promise<unknown>): Seed =>
  async (api, count) => {
    for (let index = 0; index < count; index += 1) {
      if (index % 2 === 0) api.clock.now += 1;
      await one(api);
    }
    return list;
  };

const ofInstance =
  (part: string, fill: (api: ApiFixture, id: string, count: number) => Promise<void>): Seed =>
  async (api, count) => {
    const { id } = (await api.call('POST', '/instances', { body: startBody(await sequence(api)) })).body;
    await fill(api, id, count);
    return `/instances/${id}${part}`;
  };

/** So many changes of state, in one commit each. */
async function change(api: ApiFixture, id: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    api.clock.now += index % 2;
    const audit = [auditEntry('running', 'scheduled')];
    await takeTurn(api, id, { audit, settle: settleAs('scheduled', { dueAt: api.clock.now }) });
  }
}

async function write(api: ApiFixture, id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => row({ iteration: `l:${index}` }));
  await takeTurn(api, id, { rows, settle: settleAs('scheduled', { dueAt: api.clock.now }) });
}

export const LISTS: readonly ListRow[] = [
  {
    route: 'GET /sequences',
    standard: 200,
    most: 1000,
    hasOffset: true,
    order: ['tenant_id', 'namespace', 'name', '-version', 'id'],
    rowsOf: items,
    seed: publishing,
  },
  {
    route: 'GET /sequences.json',
    standard: null,
    most: 1000,
    hasOffset: false,
    order: ['tenant_id', 'namespace', 'name', '-version', 'id'],
    seed: async (api, count) => `${await publishing(api, count)}.json`,
  },
  {
    route: 'GET /sequences/versions',
    standard: null,
    most: 10_000,
    hasOffset: false,
    order: ['-version', 'id'],
    seed: async (api, count) => `${await publishing(api, count)}/versions?namespace=fulfilment&name=n-1`,
  },
  {
    route: 'GET /instances',
    standard: 100,
    most: 1000,
    hasOffset: true,
    order: ['-updated_at', '-id'],
    rowsOf: items,
    seed: starting('/instances'),
  },
  {
    route: 'GET /instances/dlq',
    standard: 100,
    most: 1000,
    hasOffset: true,
    order: ['-updated_at', '-id'],
    seed: seeding('/instances/dlq', (api) => ended(api, 'failed')),
  },
  {
    route: 'GET /instances/{id}/audit',
    standard: 200,
    most: 200,
    hasOffset: false,
    order: ['-created_at', '-id'],
    seed: ofInstance('/audit', change),
  },
  {
    route: 'GET /instances/{id}/outputs',
    standard: null,
    most: 100_000,
    hasOffset: false,
    order: ['created_at', 'id'],
    seed: ofInstance('/outputs', write),
  },
  {
    route: 'GET /instances/{id}/timeline',
    standard: 200,
    most: 1000,
    least: 1,
    hasOffset: true,
    order: ['completed_at', 'id'],
    rowsOf: ({ entries }) => entries,
    seed: ofInstance('/timeline', write),
  },
  {
    route: 'GET /instances/{id}/checkpoints',
    standard: null,
    most: 100,
    hasOffset: false,
    order: ['-created_at', '-id'],
    seed: ofInstance('/checkpoints', async (api, id, count) => {
      await posting(`/instances/${id}/checkpoints`, '', (index) => ({ checkpoint_data: index }))(api, count);
    }),
  },
  {
    route: 'GET /approvals',
    standard: 100,
    most: 1000,
    hasOffset: true,
    order: ['-instance_id'],
    rowsOf: items,
    seed: seeding('/approvals', waitingForAnswer),
  },
  {
    route: 'GET /cron',
    standard: 100,
    most: 1000,
    hasOffset: true,
    order: ['created_at', 'id'],
    seed: async (api, count) => {
      const sequence_id = await sequence(api);
      return posting('/cron', '/cron', () => ({ ...NAMED, sequence_id, cron_expr: '0 9 * * *' }))(api, count);
    },
  },
  {
    route: 'GET /cron/{id}/next-fires',
    standard: 5,
    most: 50,
    least: 1,
    parameter: 'n',
    hasOffset: false,
    order: [''],
    rowsOf: ({ fires }) => fires,
    seed: async (api) => {
      const body = { ...NAMED, sequence_id: await sequence(api), cron_expr: '* * * * *' };
      return `/cron/${(await api.call('POST', '/cron', { body })).body.id}/next-fires`;
    },
  },
  {
    route: 'GET /triggers',
    standard: 100,
    most: 1000,
    hasOffset: false,
    order: ['created_at', 'slug'],
    seed: async (api, count) => {
      await sequence(api);
      return posting('/triggers', '/triggers', (index) => ({
        ...NAMED,
        slug: name(index),
        sequence_name: 'listed',
      }))(api, count);
    },
  },
  {
    route: 'GET /events',
    standard: 100,
    most: 1000,
    hasOffset: false,
    order: ['-received_at', '-id'],
    seed: posting('/events', '/events', (index) => ({
      tenant_id: TENANT,
      event_name: 'e',
      producer_event_id: String(index),
      correlation_key: 'c',
    })),
  },
  {
    route: 'GET /sessions/{id}/instances',
    standard: null,
    most: 1000,
    hasOffset: false,
    order: ['created_at', 'id'],
    seed: async (api, count) => {
      const { id } = (
        await api.call('POST', '/sessions', { body: { tenant_id: TENANT, session_key: nextId() } })
      ).body;
      return starting(`/sessions/${id}/instances`, () => ({ session_id: id }))(api, count);
    },
  },
  {
    route: 'GET /pools',
    standard: 1000,
    most: 1000,
    hasOffset: false,
    order: ['name', 'id'],
    seed: posting('/pools', '/pools', (index) => ({ tenant_id: TENANT, name: name(index) })),
  },
  {
    route: 'GET /pools/{id}/resources',
    standard: 1000,
    most: 1000,
    hasOffset: true,
    order: ['created_at', 'id'],
    seed: async (api, count) => {
      const { id } = (await api.call('POST', '/pools', { body: { tenant_id: TENANT, name: 'p' } })).body;
      const path = `/pools/${id}/resources`;
      return posting(path, path, (index) => ({ resource_key: name(index), name: 'r' }))(api, count);
    },
  },
  {
    route: 'GET /credentials',
    standard: 100,
    most: 1000,
    hasOffset: false,
    order: ['id'],
    seed: posting('/credentials', '/credentials', (index) => ({ id: name(index), name: 'c', value: 'v' })),
  },
  {
    route: 'GET /plugins',
    standard: 100,
    most: 1000,
    hasOffset: false,
    order: ['name'],
    seed: posting('/plugins', '/plugins', (index) => ({
      name: name(index),
      plugin_type: 'wasm',
      source: 's',
    })),
  },
  {
    route: 'GET /workers/tasks',
    standard: 50,
    most: 1000,
    hasOffset: true,
    order: ['-created_at', '-id'],
    seed: seeding('/workers/tasks', waitingForWorker),
  },
  {
    route: 'GET /workers/tasks/{id}/attempts',
    standard: 100,
    most: 1000,
    hasOffset: false,
    order: ['created_at', 'id'],
    seed: async (api, count) => {
      const { taskId } = await waitingForWorker(api);
      const report = { worker_id: 'w', claim_epoch: 9, message: 'm' };
      for (let index = 0; index < count; index += 1) {
        api.clock.now += index % 2;
        await api.call('POST', `/workers/tasks/${taskId}/fail`, { body: report });
      }
      return `/workers/tasks/${taskId}/attempts`;
    },
  },
  {
    route: 'GET /workers',
    standard: 1000,
    most: 1000,
    hasOffset: true,
    order: ['-last_seen_at', 'worker_id'],
    seed: posting('/workers/tasks/poll', '/workers', (index) => ({
      handler_name: 'h',
      worker_id: name(index),
    })),
  },
  {
    route: 'GET /workers/{worker_id}/commands',
    standard: 1000,
    most: 1000,
    hasOffset: false,
    order: ['created_at', 'id'],
    seed: posting('/workers/commands', '/workers/w/commands', () => ({ worker_id: 'w', command: 'ping' })),
  },
  {
    route: 'GET /workers/version-pins',
    standard: 1000,
    most: 1000,
    hasOffset: false,
    order: ['tenant_id', 'handler_name'],
    seed: posting('/workers/version-pins', '/workers/version-pins', (index) => ({
      tenant_id: TENANT,
      handler_name: name(index),
      min_version: '1',
    })),
  },
  {
    route: 'GET /routing-rules',
    standard: 1000,
    most: 1000,
    hasOffset: false,
    order: ['-priority', 'created_at', 'id'],
    seed: posting('/routing-rules', '/routing-rules', (index) => ({
      tenant_id: TENANT,
      handler_name: 'h',
      queue_override: 'q',
      priority: index % 3,
    })),
  },
  {
    route: 'GET /changes',
    standard: 100,
    most: 500,
    least: 1,
    hasOffset: false,
    order: ['created_at', 'id'],
    rowsOf: ({ changes }) => changes,
    seed: async (api, count) => {
      await ofInstance('', change)(api, count);
      // What is made right now is not shown yet.
      api.clock.now += 1;
      return '/changes';
    },
  },
  {
    route: 'GET /api-keys',
    standard: null,
    most: 1000,
    hasOffset: false,
    order: ['-created_at', '-id'],
    seed: posting('/api-keys', `/api-keys?tenant_id=${TENANT}`, () => ({ tenant_id: TENANT })),
  },
];

/** Lists that are additions, or bounded by what they belong to, or shown with rows that only other parts make. */
export const OTHER_LISTS: Readonly<Record<string, string>> = {
  'GET /instances/dlq/groups': 'of the newest 500 failed instances',
  'GET /instances/{id}/tree': 'one node per block of a sequence, which has at most 5,000',
  'GET /instances/{id}/children': 'cut as the list of a session; test/store-contract/children.ts',
  'GET /instances/{id}/logs': 'test/api/outputs.test.ts',
  'GET /instances/{id}/journal': 'an addition',
  'GET /instances/{id}/effects': 'test/api/describe-effects.ts',
  'GET /instances/{id}/artifacts': 'at most 1,000',
  'GET /instances/{id}/signals': 'an addition, test/api/describe-signals.ts',
  'GET /instances/{id}/remediations': 'computed',
  'GET /instances/{id}/blocks/{block_id}/resolved-input': 'the references of one step',
  'GET /rate-limits': 'an addition',
  'GET /tenants/{tenant}/rate-limits': 'an addition',
  'GET /circuit-breakers': 'test/api/limits.test.ts',
  'GET /tenants/{tenant}/circuit-breakers': 'test/api/limits.test.ts',
  'GET /webhooks/outbox': 'test/api/describe-outbox.ts',
  'GET /webhooks/deliveries': 'test/api/describe-outbox.ts',
  'GET /webhooks/deliveries/{delivery_id}': 'at most 1,000',
  'GET /cluster/nodes': 'at most 1,000',
};
