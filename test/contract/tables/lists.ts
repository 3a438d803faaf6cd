import { type Body, TENANT } from '../../api/support/api-fixture.ts';
import { ended, waitingForAnswer } from '../../api/support/seeded-runs.ts';
import { nextId } from '../../support/turn-builder.ts';
import {
  change,
  name,
  NAMED,
  ofInstance,
  posting,
  publishing,
  seeding,
  sequence,
  starting,
  write,
} from '../support/list-seeds.ts';
import type { ListRow } from './list-row.ts';
import { WORKER_LISTS } from './worker-lists.ts';

const items = (body: Body): readonly Body[] => body.items;

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
    standard: 100,
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
    standard: 1000,
    most: 1000,
    hasOffset: true,
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
  ...WORKER_LISTS,
];
