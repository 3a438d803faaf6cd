import { describe, expect, it } from 'vitest';
import { plainSeal } from '../../src/adapters/seal.ts';
import { pollTasks } from '../../src/engine/poll-tasks.ts';
import { sealContext } from '../../src/engine/resolve-credentials.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { OutboundRequest, OutboundResult } from '../../src/ports/effects.ts';
import { step } from './support/blocks.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const SECRET = 's3cret-of-rates';

async function worldWith(answer: Partial<Extract<OutboundResult, { ok: true }>> = {}) {
  const requests: OutboundRequest[] = [];
  const effects = {
    send: async (request: OutboundRequest): Promise<OutboundResult> => {
      requests.push(request);
      return { ok: true, status: 200, headers: [], body: new TextEncoder().encode('fine'), ...answer };
    },
  };
  const world = new TestEngine({ effects, scripts: { charge: {} } });
  world.boot();
  await world.time.calm();
  const keep = (id: string, value: string, more: object = {}, tenantId = TENANT) =>
    world.store.insertCredential({
      id,
      tenantId,
      name: id,
      kind: 'api_key',
      enabled: true,
      sealedValue: plainSeal.seal(value, sealContext(tenantId, id)),
      sealedRefreshToken: null,
      refreshUrl: null,
      expiresAt: null,
      description: null,
      ...more,
    });
  await keep('rates', SECRET);
  await keep('pair', JSON.stringify({ user: 'anna', pass: 'pw-of-anna' }));
  return { world, requests, keep };
}

const call = (params: JsonObject) =>
  step('call', 'http_request', { params: { url: 'https://rates.example/', ...params } });

describe('credentials of steps (8.8)', () => {
  it('a text that is exactly a reference becomes the value or one of its members [CRED-1]', async () => {
    const { world, requests } = await worldWith();
    const headers = {
      'X-Key': 'credentials://rates',
      'X-User': 'credentials://pair/user',
      'X-Note': 'see credentials://rates',
      'X-Made': 'credentials://{{ data.id }}',
    };
    const id = await world.start(await world.publish([call({ headers })]), { data: { id: 'rates' } });
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    const sent = Object.fromEntries(requests[0]?.headers ?? []);
    expect(sent).toMatchObject({ 'X-Key': SECRET, 'X-User': 'anna', 'X-Made': SECRET });
    expect(sent['X-Note']).toBe('see credentials://rates');
  });

  it('the first form gives the whole value object [CRED-1]', async () => {
    const { world, requests } = await worldWith();
    const params = { method: 'POST', json: { login: 'credentials://pair', list: ['credentials://rates'] } };
    await world.untilEnded(await world.start(await world.publish([call(params)])));
    expect(JSON.parse(String(requests[0]?.body))).toEqual({
      login: { user: 'anna', pass: 'pw-of-anna' },
      list: [SECRET],
    });
  });

  it.each<readonly [string, string]>([
    ['an unknown one', 'credentials://nobody'],
    ['one of another tenant', 'credentials://theirs'],
    ['a disabled one', 'credentials://off'],
    ['an expired one', 'credentials://old'],
    ['a missing member', 'credentials://pair/pin'],
    ['a member of a single value', 'credentials://rates/key'],
    ['a damaged one', 'credentials://damaged'],
  ])('%s fails the step permanently, whatever its retry policy is [CRED-2]', async (_, reference) => {
    const { world, requests, keep } = await worldWith();
    await keep('theirs', 'x', {}, 'other');
    await keep('off', 'x', { enabled: false });
    await keep('old', 'x', { expiresAt: START_AT });
    await keep('damaged', 'x', { sealedValue: 'v1.AAAA' });
    const retry = { max_attempts: 3, initial_backoff: 10, max_backoff: 10 };
    const block = { ...call({ headers: { 'X-Key': reference } }), retry };
    const ended = await world.untilEnded(await world.start(await world.publish([block])));
    expect(ended.failure?.error).toMatchObject({ code: 'CREDENTIAL_ERROR', retryable: false });
    expect(requests).toEqual([]);
  });

  it('no row, log, task or dead letter holds a secret [CRED-3]', async () => {
    const { world, keep } = await worldWith({
      status: 500,
      body: new TextEncoder().encode(`bad key ${SECRET}`),
    });
    await keep('hook', `https://rates.example/hooks/${SECRET}`);
    const retry = { max_attempts: 2, initial_backoff: 10, max_backoff: 10 };
    const params = { url: 'credentials://hook', headers: { 'X-Key': 'credentials://rates' } };
    const blocks = [
      step('shape', 'transform', { params: { key: 'credentials://rates' } }),
      step('say', 'log', { params: { message: 'credentials://rates' } }),
      step('keep', 'set_state', { params: { key: 'k', value: 'credentials://rates' } }),
      { ...step('call', 'http_request', { params }), retry },
    ];
    const id = await world.start(await world.publish(blocks));
    const ended = await world.untilState(id, 'failed');
    expect(ended.failure?.error).toMatchObject({ code: 'HTTP_ERROR' });
    const rows = await world.store.listOutputs(TENANT, id, { node: true, retry: true });
    const logs = await world.store.listLogs(TENANT, id, 100);
    const state = await world.store.readState({ tenantId: TENANT, instanceId: id }, 'all');
    const all = JSON.stringify([ended, rows, logs, [...state], world.log(), world.sentCommits(id)]);
    expect(all).not.toContain(SECRET);
    expect(all).toContain('[REDACTED]');
  });

  it('a result does not repeat the secret that the other side echoes [CRED-3]', async () => {
    const { world } = await worldWith({ body: new TextEncoder().encode(`{"key":"${SECRET}","by":"anna"}`) });
    const headers = { 'X-Key': 'credentials://rates', 'X-User': 'credentials://pair/user' };
    const after = step('after', 'transform', { params: { told: '{{ outputs.call.body }}' } });
    const id = await world.start(await world.publish([call({ headers }), after]));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    const shown = JSON.stringify([await world.outputs(id), world.sentCommits(id)]);
    expect(shown).not.toContain(SECRET);
    expect(await world.outputs(id)).toMatchObject({
      call: { body: '{"key":"[REDACTED]","by":"anna"}' },
      after: { told: '{"key":"[REDACTED]","by":"anna"}' },
    });
  });

  it('a dry run shows references and no secret [CRED-3]', async () => {
    const { world, requests, keep } = await worldWith();
    await keep('hook', `https://rates.example/${SECRET}`);
    const blocks = [
      step('call', 'http_request', { params: { url: 'credentials://hook' } }),
      step('own', 'charge', { params: { key: 'credentials://rates' } }),
    ];
    const id = await world.start(await world.publish(blocks), { dryRun: true });
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(JSON.stringify(await world.outputs(id))).not.toContain(SECRET);
    expect(requests).toEqual([]);
  });

  it('a handler of the user gets the value', async () => {
    const { world } = await worldWith();
    await world.untilEnded(
      await world.start(
        await world.publish([step('pay', 'charge', { params: { key: 'credentials://rates' } })]),
      ),
    );
    expect(world.ledger.of('pay')[0]?.params).toEqual({ key: SECRET });
  });

  it('a worker gets the value with the poll, and no listing shows it [CRED-3]', async () => {
    const { world } = await worldWith();
    const id = await world.start(
      await world.publish([step('work', 'pack', { params: { key: 'credentials://rates' } })]),
    );
    await world.untilState(id, 'waiting');
    const { useCases } = world.processes[0] ?? world.idle();
    const asked = { handlerName: 'pack', workerId: 'w', version: null, limit: 5 };
    const polled = await world.answered(pollTasks(useCases, { tenantId: TENANT, isAdmin: false }, asked));
    expect(polled.ok ? polled.value.map(({ params }) => params) : []).toEqual([{ key: SECRET }]);
    const query = {
      tenantId: TENANT,
      states: [],
      handlerName: null,
      workerId: null,
      queueName: null,
      limit: 10,
      offset: 0,
    };
    expect(JSON.stringify(await world.store.listTasks(query))).not.toContain(SECRET);
  });

  it('a task whose credential cannot be used is not handed out and fails its step [CRED-2]', async () => {
    const { world } = await worldWith();
    const id = await world.start(
      await world.publish([step('work', 'pack', { params: { key: 'credentials://nobody' } })]),
    );
    await world.untilState(id, 'waiting');
    const { useCases } = world.processes[0] ?? world.idle();
    const asked = { handlerName: 'pack', workerId: 'w', version: null, limit: 5 };
    expect(await world.answered(pollTasks(useCases, { tenantId: TENANT, isAdmin: false }, asked))).toEqual({
      ok: true,
      value: [],
    });
    expect((await world.untilEnded(id, 1000)).failure?.error).toMatchObject({ code: 'CREDENTIAL_ERROR' });
  });
});
