import type { Json } from '../../../src/core/json.ts';
import type { Scenario } from './scenarios.ts';
import { TENANT, type TestEngine } from './test-engine.ts';

const step = (id: string, handler: string, members: object = {}): Json =>
  ({ type: 'step', id, handler, ...members }) as Json;

const RETRY = { max_attempts: 4, initial_backoff: 400, max_backoff: 5000 };
/** Far longer than any run, so that the count says how many tokens were ever taken. */
const LONG_WINDOW_MS = 6 * 3_600_000;

async function limits(world: TestEngine): Promise<void> {
  const limit = (resourceKey: string, maxCount: number, windowMs: number) =>
    world.store.putRateLimit({ tenantId: TENANT, resourceKey, maxCount, windowMs });
  await limit('mail', 2, 1500);
  await limit('count', 1000, LONG_WINDOW_MS);
  const pool = { id: world.nextId(), tenantId: TENANT, name: 'senders', strategy: 'round_robin' as const };
  await world.store.createPool(pool);
  await world.store.addResource(TENANT, pool.id, {
    ...{ id: world.nextId(), resourceKey: 'r1', name: 'r1', weight: 1, enabled: true, dailyCap: 1000 },
    ...{ warmupStart: null, warmupDays: 0, warmupStartCap: 0 },
  });
}

/** Attempts that take from limits, alone and in blocks. */
export const scenariosOfLimits: readonly Scenario[] = [
  {
    name: 'limited steps',
    publish: async (world) => {
      await limits(world);
      return world.publish([
        step('a', 'quick', { rate_limit_key: 'count' }),
        step('b', 'flaky', { retry: RETRY, rate_limit_key: 'count' }),
        step('c', 'noop', { rate_limit_key: 'count' }),
        step('d', 'quick', {
          rate_limit_key: 'count',
          pool: 'senders',
          params: { by: '{{runtime.resource_key}}' },
        }),
        step('e', 'slow', { rate_limit_key: 'count', on_uncertain: 'retry', cancellable: false }),
      ]);
    },
  },
  {
    name: 'limited steps in blocks',
    publish: async (world) => {
      await limits(world);
      const rounds = {
        type: 'loop',
        id: 'rounds',
        condition: 'true',
        max_iterations: 3,
        body: [step('x', 'quick', { rate_limit_key: 'mail' })],
      };
      const careful = {
        type: 'try_catch',
        id: 'careful',
        try_block: [step('y', 'refused', { rate_limit_key: 'mail' })],
        catch_block: [step('z', 'slow', { rate_limit_key: 'mail', pool: 'senders' })],
      };
      return world.publish([
        { type: 'parallel', id: 'all', branches: [[rounds], [careful]] },
        step('after', 'quick'),
      ]);
    },
  },
];
