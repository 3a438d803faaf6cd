import { describe, expect, it } from 'vitest';
import { listApprovals } from '../../src/engine/list-approvals.ts';
import type { OutboundRequest, OutboundResult } from '../../src/ports/effects.ts';
import { step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const OK: OutboundResult = { ok: true, status: 200, headers: [], body: new TextEncoder().encode('paid') };

/** A service that takes the first request, and the process dies before it hears of the answer. */
async function lostRequest(onUncertain: 'ask' | 'fail' | 'retry') {
  const requests: OutboundRequest[] = [];
  const effects = {
    send: (request: OutboundRequest): Promise<OutboundResult> => {
      requests.push(request);
      if (requests.length > 1) return Promise.resolve(OK);
      world.processes[0]?.crash();
      return new Promise(() => undefined);
    },
  };
  const world = new TestEngine({ effects });
  world.boot();
  await world.time.calm();
  const params = { url: 'https://pay.example/charges', method: 'POST', json: { cents: 1200 } };
  const block = step('pay', 'http_request', { params, on_uncertain: onUncertain });
  const id = await world.start(await world.publish([block, step('after', 'noop')]));
  await world.time.until(() => requests.length === 1, 10_000);
  world.boot();
  return { world, requests, id };
}

describe('a request whose outcome is unknown (RULINGS B10)', () => {
  it.each<readonly [string, string, number]>([
    ['done', 'completed', 1],
    ['not_done', 'completed', 2],
    ['failed', 'failed', 1],
  ])(
    'goes to a person: %s ends as %s after %i requests, and it is not sent again before',
    async (value, state, count) => {
      const { world, requests, id } = await lostRequest('ask');
      await world.untilState(id, 'waiting');
      const query = {
        tenantId: TENANT,
        namespace: null,
        instanceId: null,
        sequenceId: null,
        limit: 10,
        offset: 0,
      };
      const { useCases } = world.processes[1] ?? world.idle();
      const { items, total } = await world.answered(listApprovals(useCases, query));
      expect(total).toBe(1);
      expect(items).toMatchObject([{ blockId: 'pay', gate: { kind: 'outcome' }, instance: { id } }]);
      await world.time.pass(600_000);
      expect(requests).toHaveLength(1);
      await world.signal(id, 'custom:human_input:pay', { value });
      expect((await world.untilEnded(id, 5000)).state).toBe(state);
      expect(requests).toHaveLength(count);
    },
  );

  it('with fail it ends as UNKNOWN_OUTCOME and is never sent again (RULINGS B26)', async () => {
    const { world, requests, id } = await lostRequest('fail');
    expect((await world.untilEnded(id)).failure?.error).toMatchObject({
      code: 'UNKNOWN_OUTCOME',
      retryable: false,
    });
    expect(requests).toHaveLength(1);
  });

  it('by default it is sent again under the same key [IDEM-2] [NET-9]', async () => {
    const { world, requests, id } = await lostRequest('retry');
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    const keys = requests.map(({ headers }) => headers.find(([name]) => name === 'Idempotency-Key')?.[1]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });
});
