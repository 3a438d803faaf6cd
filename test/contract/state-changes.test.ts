import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { TENANT } from '../api/support/api-fixture.ts';
import { useBackend } from '../api/support/backends.ts';
import { document } from '../api/support/documents.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';

/** The state machine of http-api.md 5.1, played by PATCH (6.1) from every state to every state. */
const STATES = ['scheduled', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'];
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  scheduled: ['running', 'paused', 'cancelled'],
  running: ['scheduled', 'waiting', 'completed', 'failed', 'paused', 'cancelled'],
  waiting: ['running', 'scheduled', 'cancelled', 'failed'],
  paused: ['scheduled', 'cancelled'],
  failed: ['scheduled'],
  completed: ['scheduled'],
  cancelled: ['scheduled'],
};

/**
 * What http-api.md allows in general and sequences.md [INS-12] not to people: only the engine makes an instance run or end, and
 * what ended begins again by retry and resume-from (decision 0012).
 */
const NOT_BY_HAND: Readonly<Record<string, readonly string[]>> = {
  scheduled: ['running'],
  running: ['completed', 'failed'],
  waiting: ['running', 'failed'],
  completed: ['scheduled'],
  cancelled: ['scheduled'],
};

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
/** Blocks that bring an instance to a state, and keep it there. */
const BLOCKS: Readonly<Record<string, readonly JsonObject[]>> = {
  scheduled: [step('a', { delay: { duration: 86_400_000 } })],
  running: [step('a', { handler: 'sleep', params: { duration_ms: 86_400_000 } })],
  waiting: [step('a', { wait_for_input: {} })],
  completed: [step('a')],
  failed: [step('a', { handler: 'fail', params: { message: 'no' } })],
};

describe('a change of the state (http-api.md 5.1, 6.1)', () => {
  const backend = useBackend('memory');
  let world: ContractWorld;
  beforeAll(async () => {
    world = await createContractWorld(backend);
  });
  afterAll(() => world.api.stop());

  const patch = (id: string, state: string) =>
    world.send('PATCH', `/api/v1/instances/${id}/state`, { body: { state } });

  async function instanceIn(state: string): Promise<string> {
    const begins = state === 'paused' || state === 'cancelled' ? 'scheduled' : state;
    const body = document({ name: nextId(), blocks: BLOCKS[begins] ?? [] });
    const sequence_id = (await world.call('POST', '/sequences', body)).id;
    const { id } = await world.call('POST', '/instances', { tenant_id: TENANT, namespace: 'n', sequence_id });
    await world.until(id, begins);
    if (state !== begins) await world.call('PATCH', `/instances/${id}/state`, { state });
    return id;
  }

  it.each(STATES.flatMap((from) => STATES.map((to) => [from, to] as const)))(
    'from %s to %s is as the table says',
    async (from, to) => {
      const id = await instanceIn(from);
      const reply = await patch(id, to);
      const isLegal = (LEGAL[from] ?? []).includes(to) && !(NOT_BY_HAND[from] ?? []).includes(to);
      expect([reply.status, reply.text === '']).toEqual([isLegal ? 200 : 400, isLegal]);
      const text = String(reply.body?.error ?? '');
      expect([text.includes(from), text.includes(to)]).toEqual([!isLegal, !isLegal]);
    },
  );
});
