import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import type { Reply } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

const asking = (id: string): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  wait_for_input: { prompt: 'Go?' },
});
const answer = (block: string): JsonObject => ({ custom: `human_input:${block}` });

/** Registers the tests of signals to whole runs over one kind of store. */
export function describeSignals(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  async function start(...blocks: readonly JsonObject[]): Promise<string> {
    const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
    const reply = await api.call('POST', '/instances', { body: startBody(sequenceId) });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body.id as string;
  }

  const send = (id: string, body: Record<string, Json>): Promise<Reply> =>
    api.call('POST', `/instances/${id}/signals`, { body });

  describe(`signals over ${backendName}`, () => {
    it('are kept before the wait that takes them (B19)', async () => {
      const sleep = { type: 'step', id: 'nap', handler: 'sleep', params: { duration_ms: 2_000 } };
      const id = await start(sleep, asking('ask'));
      const sent = await send(id, { signal_type: answer('ask'), payload: { value: 'yes' } });
      expect(sent).toMatchObject({ status: 201, body: { signal_id: expect.any(String) } });
      expect((await api.until(id, 'completed')).context.data).toEqual({ ask: 'yes' });
    });

    it.each(['delivery_id', 'signal_id'])(
      'with the same %s are one; the next wait stays open (B21) [SIG-3] (RULINGS A36)',
      async (member) => {
        const id = await start({
          ...{ type: 'loop', id: 'rounds', condition: 'true', max_iterations: 2, body: [asking('ask')] },
        });
        await api.until(id, 'waiting');
        const signal = { signal_type: answer('ask'), payload: { value: 'yes' }, [member]: nextId() };
        const first = await send(id, signal);
        expect(first.status).toBe(201);
        await api.time.pass(1_000);
        const again = await send(id, signal);
        expect([again.status, again.body]).toEqual([200, first.body]);
        await api.time.pass(1_000);
        expect((await api.call('GET', `/instances/${id}`)).body.state).toBe('waiting');
        expect((await api.call('GET', '/approvals')).body.items).toHaveLength(1);
        await send(id, { ...signal, [member]: nextId() });
        expect((await api.until(id, 'completed')).state).toBe('completed');
        // Known for ever, also when the instance has ended.
        expect((await send(id, signal)).status).toBe(200);
      },
    );

    it('may have delivery ids of any kind, each of its own instance (B21)', async () => {
      const ids = [await start(asking('ask')), await start(asking('ask'))];
      const signal = { signal_type: { custom: 'poke' }, delivery_id: 'evt_1 / ключ' };
      const sent = [];
      for (const id of [...ids, ...ids]) sent.push(await send(id, signal));
      expect(sent.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
      expect(new Set(sent.map(({ body }) => body.signal_id)).size).toBe(2);
      expect((await send(ids[0] ?? '', { ...signal, delivery_id: '' })).status).toBe(422);
    });

    it('carry null, 0, false, empty text and an empty list unchanged (B25) [SIG-7]', async () => {
      const id = await start(asking('ask'));
      await api.until(id, 'waiting');
      const data = { none: null, zero: 0, no: false, text: '', list: [], __proto__x: {} };
      await send(id, { signal_type: 'update_context', payload: { data } });
      await api.time.pass(500);
      expect((await api.call('GET', `/instances/${id}`)).body.context.data).toEqual(data);
    });

    it.each([
      ['pause', 201],
      ['resume', 201],
      ['update_context', 201],
      ['custom:poke', 201],
      [{ custom: 'poke' }, 201],
      ['poke', 422],
      ['Cancel', 422],
      ['custom:', 400],
      ['custom: ', 400],
      [{ custom: '' }, 400],
      [{ custom: 7 }, 422],
      [{}, 422],
      [null, 422],
      [undefined, 422],
    ])('of type %j answer %i [SIG-1]', async (signalType, status) => {
      const id = await start(asking('ask'));
      await api.until(id, 'waiting');
      const body = signalType === undefined ? {} : { signal_type: signalType };
      expect((await send(id, body)).status).toBe(status);
    });

    it('to what has ended, to nobody, and of too many bytes are refused [SIG-2]', async () => {
      const id = await start({ type: 'step', id: 'a', handler: 'noop' });
      await api.until(id, 'completed');
      const poke = { signal_type: { custom: 'poke' } };
      expect((await send(id, poke)).status).toBe(400);
      expect((await send(nextId(), poke)).status).toBe(404);
      const open = await start(asking('ask'));
      const large = (bytes: number) => send(open, { ...poke, payload: 'x'.repeat(bytes - 2) });
      expect((await large(262_144)).status).toBe(201);
      expect((await large(262_145)).status).toBe(413);
    });

    it('wait for a sleeping run no longer than moments [SIG-5] (E19)', async () => {
      const id = await start({ type: 'step', id: 'a', handler: 'noop', delay: { duration: 604_800_000 } });
      await api.until(id, 'scheduled');
      await send(id, { signal_type: 'cancel' });
      expect((await api.until(id, 'cancelled')).state).toBe('cancelled');
      expect(api.time.now).toBeLessThan(Date.parse('2027-02-11T08:01:00Z'));
    });
  });
}
