import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import {
  forEach,
  gate,
  loop,
  parallel,
  probing,
  shaping,
  sleeping,
  step,
  tryCatch,
} from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const AROUND: ReadonlyArray<readonly [string, (block: JsonObject) => readonly JsonObject[]]> = [
  ['at the root', (block) => [block]],
  [
    'in a branch of a loop',
    (block) => [loop('l', [parallel('b', [block], [step('x')])], { max_iterations: 1 })],
  ],
  ['in an item in a try', (block) => [tryCatch('t', [forEach('e', [block])], [step('caught')])]],
];

/** People and signals: scenarios E01 to E21. */
export function describePeople(stage: Stage): void {
  describe(`people over ${stage.backend}`, () => {
    const run = (blocks: readonly JsonObject[]) => stage.run(blocks, { context: { data: { xs: [1] } } });

    it.each(AROUND)('E01: a gate %s stays closed at maybe and opens at yes', async (_, around) => {
      const id = await run(around(gate('ask')));
      await stage.until(id, 'waiting');
      await stage.answer(id, 'ask', 'maybe');
      await stage.pass(1_000);
      expect(await stage.stateOf(id)).toBe('waiting');
      await stage.answer(id, 'ask', 'yes');
      expect((await stage.until(id, 'completed')).context.data.ask).toBe('yes');
    });

    it.each(AROUND)('E03: a gate %s takes no approval for an answer', async (_, around) => {
      const id = await run(around(gate('ask')));
      await stage.until(id, 'waiting');
      await stage.signal(id, { custom: 'human_input:ask' }, { approved: true });
      await stage.pass(1_000);
      expect((await stage.get('/approvals')).total).toBe(1);
      expect((await stage.nodes(id))['ask']).toMatchObject({ state: 'waiting', reason: 'input' });
    });

    it('E05: a gate whose time is up fails its step, and a catch can handle it', async () => {
      const plain = await run([gate('ask', { timeout: 60_000 })]);
      const caught = await run([
        tryCatch('t', [parallel('b', [gate('ask', { timeout: 60_000 })])], [step('later')]),
      ]);
      await stage.pass(60_000);
      expect([await stage.stateOf(plain), await stage.stateOf(caught)]).toEqual(['waiting', 'waiting']);
      await stage.pass(1_000);
      expect((await stage.until(plain)).state).toBe('failed');
      expect((await stage.nodes(plain))['ask'].error).toMatchObject({ code: 'HUMAN_INPUT_TIMEOUT' });
      expect((await stage.until(caught)).state).toBe('completed');
      expect(await stage.ran(caught)).toEqual(['later']);
    });

    it('E15: a run that is paused and resumed by signals repeats no step', async () => {
      stage.probe.answer('b', { takesMs: 5_000 });
      const id = await run([
        probing('a'),
        loop('l', [probing('b'), probing('c')], { max_iterations: 1 }),
        probing('d'),
      ]);
      await stage.pass(1_000);
      await stage.signal(id, 'pause');
      await stage.until(id, 'paused');
      await stage.pass(60_000);
      expect(stage.probe.keys()).toEqual(['a', 'b']);
      expect(await stage.tree(id)).toMatchObject({ b: 'completed', c: 'pending' });
      await stage.signal(id, 'resume');
      expect((await stage.until(id)).state).toBe('completed');
      expect(stage.probe.keys()).toEqual(['a', 'b', 'c', 'd']);
    });

    it('E17: two patches that come together are merged in their order, key by key', async () => {
      const id = await stage.run([gate('ask'), parallel('b', [shaping('reads', { all: '{{ data }}' })])], {
        context: { data: { kept: { deep: [1] }, a: 0 } },
      });
      const before = (await stage.until(id, 'waiting')).context.runtime;
      const host = stage.functions();
      const send = (data: JsonObject) =>
        host.call('POST', `/instances/${id}/signals`, {
          body: { signal_type: 'update_context', payload: { data } },
        });
      await stage.drive(send({ a: 1 }));
      await stage.drive(send({ a: 2, b: 3 }));
      expect((await stage.get(`/instances/${id}`)).context.runtime).toEqual(before);
      await stage.answer(id, 'ask');
      await stage.until(id, 'completed');
      const row = (await stage.outputs(id)).find(({ block_id: block }) => block === 'reads');
      expect(row.output.all).toEqual({ kept: { deep: [1] }, a: 2, b: 3, ask: 'yes' });
    });

    it('E19: a run that begins tomorrow, and one that is delayed until then, are cancelled today', async () => {
      const tomorrow = await stage.run([probing('a')], { next_fire_at: '2027-02-12T08:00:00Z' });
      const delayed = await stage.run([parallel('b', [probing('a', { delay: { duration: 86_400_000 } })])]);
      for (const id of [tomorrow, delayed]) {
        await stage.until(id, 'scheduled');
        await stage.signal(id, 'cancel');
        expect((await stage.until(id)).state).toBe('cancelled');
      }
      expect(stage.now).toBeLessThan(Date.parse('2027-02-11T08:01:00Z'));
      expect(stage.probe.calls).toEqual([]);
    });

    it.each([
      [
        'a call',
        'in a branch',
        (block: JsonObject) => [parallel('b', [block, probing('next')], [sleeping('nap', 99_000)])],
      ],
      ['a call', 'in a loop', (block: JsonObject) => [loop('l', [block, probing('next')])]],
      ['a call', 'at the root', (block: JsonObject) => [block, probing('next')]],
    ])(
      'E21: %s that may not be cancelled %s ends, and nothing after it begins',
      async (_kind, _where, around) => {
        stage.probe.answer('p', { takesMs: 5_000, body: { sent: 1 } });
        const id = await run(around(probing('p', { cancellable: false })));
        await stage.pass(1_000);
        await stage.signal(id, 'cancel');
        await stage.pass(1_000);
        expect((await stage.nodes(id))['p'].state).toBe('running');
        expect((await stage.until(id)).state).toBe('cancelled');
        const row = (await stage.outputs(id)).find(({ block_id: block }) => block === 'p');
        expect(row.output).toEqual({ status: 200, body: { sent: 1 } });
        expect(stage.probe.keys()).toEqual(['p']);
      },
    );

    it('E05: with an escalation handler the gate is passed, and the handler is called once', async () => {
      const calls: unknown[] = [];
      stage.server({ handlers: [defineHandler('boss', {}, (params) => void calls.push(params))] });
      const id = await run([
        gate('ask', { timeout: 60_000, escalation_handler: 'boss' }, { handler: 'nobody' }),
        step('z'),
      ]);
      expect((await stage.until(id)).state).toBe('completed');
      expect(calls).toMatchObject([{ block_id: 'ask', instance_id: id, timeout_seconds: 60 }]);
      expect((await stage.outputs(id))[0].output).toMatchObject({
        _escalated: true,
        _escalation_handler: 'boss',
      });
    });
  });
}
