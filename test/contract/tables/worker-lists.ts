import { TENANT } from '../../api/support/api-fixture.ts';
import { waitingForWorker } from '../../api/support/seeded-runs.ts';
import { change, name, ofInstance, posting, seeding } from '../support/list-seeds.ts';
import type { ListRow } from './list-row.ts';

/** The lists of http-api.md 19 to 24. */
export const WORKER_LISTS: readonly ListRow[] = [
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
