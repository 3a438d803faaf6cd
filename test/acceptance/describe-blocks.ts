import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { Body } from '../api/support/api-fixture.ts';
import { startBody } from '../api/support/documents.ts';
import { nextId } from '../support/turn-builder.ts';
import {
  child,
  failing,
  forEach,
  loop,
  parallel,
  probing,
  retry,
  shaping,
  sleeping,
  step,
  tryCatch,
} from './support/blocks.ts';
import { describeBranches } from './describe-branches.ts';
import { describePasses } from './describe-passes.ts';
import type { Stage } from './support/stage.ts';

/** Blocks: scenarios K01 to K43. */
export function describeBlocks(stage: Stage): void {
  describeBranches(stage);
  describePasses(stage);

  describe(`blocks over ${stage.backend}`, () => {
    it('K01: three steps complete in order, with three outputs', async () => {
      const id = await stage.run([step('a'), step('b'), step('c')]);
      expect((await stage.until(id)).state).toBe('completed');
      expect(await stage.ran(id)).toEqual(['a', 'b', 'c']);
    });

    const twoChildren = async (): Promise<readonly [string, string]> => {
      const [bad, slow] = [`bad-${nextId()}`, `slow-${nextId()}`];
      await stage.publish([failing('x')], { name: bad });
      await stage.publish([sleeping('nap', 600_000)], { name: slow });
      return [bad, slow];
    };

    it('K27: a child that fails, and one that is cancelled, fail the block of the parent', async () => {
      const [bad, slow] = await twoChildren();
      const id = await stage.run([parallel('b', [child('one', bad)], [loop('l', [child('two', slow)])])]);
      await stage.until(id, 'waiting');
      const children = await stage.get(`/instances/${id}/children`);
      const running = children.find((run: Body) => run.state !== 'failed');
      await stage.call('PATCH', `/instances/${running.id}/state`, { body: { state: 'cancelled' } });
      expect((await stage.until(id)).state).toBe('failed');
      const nodes = await stage.nodes(id);
      expect(nodes['one']).toMatchObject({ state: 'failed', error: { code: 'CHILD_FAILED' } });
      expect(nodes['two']).toMatchObject({ state: 'failed', error: { code: 'CHILD_CANCELLED' } });
    });

    it.each([
      ['at the root', (block: JsonObject) => [block]],
      ['in a branch of an item', (block: JsonObject) => [forEach('e', [parallel('b', [block])])]],
    ])(
      'K29: a sequence that starts itself %s ends with a failed block after 16 levels',
      async (_, around) => {
        const name = `endless-${nextId()}`;
        const id = await stage.start(
          await stage.publish(around(child('again', name, { input: { xs: [1] } })), { name }),
          {
            context: { data: { xs: [1] } },
          },
        );
        expect((await stage.until(id)).state).toBe('failed');
        const { items } = await stage.get('/instances?limit=100');
        expect(items.length).toBeLessThanOrEqual(17);
        const depths = items.map((run: Body) => run.metadata._sub_sequence_depth ?? 0);
        expect(Math.max(...depths)).toBe(16);
        expect((await stage.nodes(id))['again']).toMatchObject({ state: 'failed' });
      },
    );

    it('K31: of 2,000 runs 66 to 74 % take the first of 70/30, and a run keeps its variant', async () => {
      const variants = [
        { name: 'first', weight: 70, blocks: [step('a')] },
        { name: 'second', weight: 30, blocks: [failing('b')] },
      ];
      const sequenceId = await stage.publish([{ type: 'ab_split', id: 'split', variants }]);
      const instances = Array.from({ length: 2_000 }, () => startBody(sequenceId));
      expect((await stage.post('/instances/batch', { instances })).body).toEqual({ count: 2_000 });
      const open = async () =>
        (await stage.get('/instances?state=scheduled,running&limit=1')).items.length === 0;
      expect(await stage.world.time.until(open, 600_000)).toBe(true);
      const count = async (state: string): Promise<number> => {
        const pages = [0, 1_000].map((offset) =>
          stage.get(`/instances?state=${state}&limit=1000&offset=${offset}`),
        );
        return (await Promise.all(pages)).flatMap(({ items }) => items).length;
      };
      const [first, second] = [await count('completed'), await count('failed')];
      expect(first + second).toBe(2_000);
      expect(first / 2_000).toBeGreaterThanOrEqual(0.66);
      expect(first / 2_000).toBeLessThanOrEqual(0.74);
      const { items } = await stage.get('/instances?state=failed&limit=5');
      const variantsOf = () =>
        Promise.all(items.map(async (run: Body) => (await stage.outputs(run.id))[0].output));
      const before = await variantsOf();
      expect(before).toEqual(before.map(() => ({ variant: 'second', variant_index: 1 })));
      await stage.jump(60_000);
      await stage.post(`/instances/${items[0].id}/retry`);
      await stage.until(items[0].id);
      expect(await variantsOf()).toEqual(before);
    });

    const undo = (id: string) => probing(id);
    const saga = (third: JsonObject): JsonObject => ({
      type: 'saga',
      id: 'trip',
      steps: [
        { id: 'one', action: step('s1'), compensation: undo('u1') },
        { id: 'two', action: step('s2'), compensation: undo('u2') },
        { id: 's3', action: third },
      ],
    });

    it('K33: a saga whose third action fails undoes the second and the first, in this order', async () => {
      const id = await stage.run([saga(failing('a3'))]);
      expect((await stage.until(id)).state).toBe('failed');
      expect((await stage.ran(id)).filter((block) => block !== 'a3')).toEqual(['s1', 's2', 'u2', 'u1']);
      const { context } = await stage.get(`/instances/${id}`);
      expect(context.data._error).toMatchObject({ failed_step: 's3', source: 'saga', block_id: 'trip' });
    });

    it('K33: the same two levels down, with a composite for an action and a try around', async () => {
      const action = parallel('both', [step('ok')], [tryCatch('t', [failing('x')], [failing('y')])]);
      const id = await stage.run([tryCatch('outer', [loop('l', [saga(action)])], [step('caught')])]);
      expect((await stage.until(id)).state).toBe('completed');
      expect((await stage.ran(id)).filter((block) => /^[su]\d$/.test(block))).toEqual([
        's1',
        's2',
        'u2',
        'u1',
      ]);
      expect(stage.probe.keys()).toEqual(['u2', 'u1']);
    });

    it('K35: a saga whose first action fails undoes nothing', async () => {
      const steps = [
        { id: 'one', action: failing('s1'), compensation: undo('u1') },
        { id: 'two', action: step('s2'), compensation: undo('u2') },
      ];
      const id = await stage.run([{ type: 'saga', id: 'trip', steps }]);
      expect((await stage.until(id)).state).toBe('failed');
      expect(stage.probe.calls).toEqual([]);
      expect(await stage.tree(id)).toMatchObject({
        s1: 'failed',
        s2: 'skipped',
        u1: 'skipped',
        u2: 'skipped',
      });
    });

    it('K37: a step whose guard is false is skipped, and uses up no try', async () => {
      const pro = probing('pro', {
        when: "data.tier == 'pro'",
        retry: retry(3, 1_000),
        rate_limit_key: 'mail',
      });
      await stage.call('PUT', '/tenants/saltmarsh/rate-limits/mail', {
        body: { max_count: 0, window_seconds: 60 },
      });
      const id = await stage.run([parallel('b', [pro, step('next')])], {
        context: { data: { tier: 'basic' } },
      });
      const run = await stage.until(id);
      expect([run.state, run.context.runtime.total_steps_executed]).toEqual(['completed', 1]);
      expect((await stage.nodes(id))['pro']).toMatchObject({ state: 'skipped', attempt: 0 });
      expect([await stage.ran(id), stage.probe.count('pro')]).toEqual([['next'], 0]);
    });

    const schema = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } };

    it('K41: a result that breaks its schema fails the step for good, in process and from a worker', async () => {
      const one = await stage.run([
        shaping('a', { url: 5 }, { output_schema: schema, retry: retry(3, 1_000) }),
      ]);
      expect((await stage.until(one)).state).toBe('failed');
      const two = await stage.run([
        tryCatch('t', [step('w', { handler: 'work', output_schema: schema, retry: retry(3) })], []),
      ]);
      await stage.until(two, 'waiting');
      await stage.complete(await stage.poll('work'), { url: 5 });
      expect((await stage.until(two)).context.data).not.toHaveProperty('url');
      for (const node of [(await stage.nodes(one))['a'], (await stage.nodes(two))['w']]) {
        expect(node).toMatchObject({
          state: 'failed',
          attempt: 0,
          error: { code: 'OUTPUT_CONTRACT_VIOLATION' },
        });
      }
    });
  });
}
