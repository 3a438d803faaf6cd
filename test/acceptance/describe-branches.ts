import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { failing, forEach, loop, parallel, probing, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const race = (
  id: string,
  left: readonly JsonObject[],
  right: readonly JsonObject[],
  semantics?: string,
): JsonObject => ({
  ...{ type: 'race', id, branches: [left, right] },
  ...(semantics === undefined ? {} : { semantics }),
});
const router = (id: string, routes: readonly JsonObject[], last?: readonly JsonObject[]): JsonObject => ({
  ...{ type: 'router', id, routes },
  ...(last === undefined ? {} : { default: last }),
});

/** Blocks that choose: scenarios K03 to K15. */
export function describeBranches(stage: Stage): void {
  describe(`branches over ${stage.backend}`, () => {
    it.each([
      ['at the root', (block: JsonObject) => [block]],
      [
        'in a loop in a try',
        (block: JsonObject) => [tryCatch('t', [loop('l', [block])], [failing('again')])],
      ],
    ])('K03: a parallel %s fails only when its slower branch has ended', async (_, around) => {
      const id = await stage.run(
        around(parallel('p', [failing('x')], [step('slow', { handler: 'work' }), step('after')])),
      );
      await stage.until(id, 'waiting');
      expect(await stage.tree(id)).toMatchObject({ p: 'running', x: 'failed', slow: 'waiting' });
      await stage.complete(await stage.poll('work'), { done: true });
      expect((await stage.until(id)).state).toBe('failed');
      const rows = await stage.outputs(id);
      expect(rows.find((row) => row.block_id === 'slow').output).toEqual({ done: true });
      expect(await stage.tree(id)).toMatchObject({
        p: 'failed',
        x: 'failed',
        slow: 'completed',
        after: 'completed',
      });
    });

    it.each([
      ['at the root', (block: JsonObject) => [block]],
      [
        'in a branch in an item',
        (block: JsonObject) => [forEach('e', [parallel('b', [block], [step('x')])])],
      ],
    ])('K05: a race to succeed %s is won by the branch that does, later', async (_, around) => {
      stage.probe.answer('right', { takesMs: 200 });
      const block = race('r', [failing('left')], [probing('right')], 'first_to_succeed');
      const id = await stage.run(around(block), { context: { data: { xs: [1] } } });
      expect((await stage.until(id)).state).toBe('completed');
      expect(await stage.tree(id)).toMatchObject({ r: 'completed', left: 'failed', right: 'completed' });
      expect(await stage.ran(id)).toContain('right');
      expect(await stage.ran(id)).not.toContain('left');
    });

    it('K07: the loser of a race of workers is cancelled, offered to nobody and heard no more', async () => {
      const work = (id: string) => step(id, { handler: id });
      const id = await stage.run([race('r', [work('left')], [tryCatch('t', [work('right')], [])])]);
      await stage.until(id, 'waiting');
      const late = await stage.poll('right');
      expect((await stage.complete(await stage.poll('left'))).status).toBe(200);
      expect((await stage.until(id)).state).toBe('completed');
      expect(await stage.tree(id)).toMatchObject({ left: 'completed', t: 'cancelled', right: 'cancelled' });
      expect(await stage.poll('right')).toBeUndefined();
      expect((await stage.complete(late)).status).toBe(409);
      expect((await stage.fail(late)).status).toBe(409);
    });

    it('K07: a task of the loser that nobody had is gone', async () => {
      const id = await stage.run([
        race('r', [step('left', { handler: 'l' })], [loop('o', [step('right', { handler: 'r' })])]),
      ]);
      await stage.until(id, 'waiting');
      await stage.complete(await stage.poll('l'));
      await stage.until(id);
      expect(await stage.poll('r')).toBeUndefined();
    });

    it('K09: a router without a match and without a default completes', async () => {
      const route = { condition: "data.kind == 'refund'", blocks: [failing('x')] };
      const inner = router('inner', [{ condition: 'false', blocks: [failing('y')] }]);
      const id = await stage.run([router('way', [route], [inner, step('z')])]);
      expect((await stage.until(id)).state).toBe('completed');
      expect([await stage.ran(id), (await stage.tree(id))['inner']]).toEqual([['z'], 'completed']);
    });

    it.each([
      ['a step', [failing('x')]],
      ['a parallel in a loop', [loop('l', [parallel('p', [failing('x')], [step('y')])])]],
    ])('K11: an empty catch swallows the failure of %s', async (_, body) => {
      const id = await stage.run([tryCatch('t', body, []), step('z')]);
      expect((await stage.until(id)).state).toBe('completed');
      expect((await stage.ran(id)).at(-1)).toBe('z');
      expect((await stage.outputs(id)).filter((row) => row.output_ref === '__error__')).toEqual([]);
    });

    it('K13: after a good try the catch is skipped and finally runs', async () => {
      const id = await stage.run([tryCatch('t', [step('a')], [step('c')], [parallel('p', [step('f')])])]);
      expect((await stage.until(id)).state).toBe('completed');
      expect([await stage.ran(id), (await stage.tree(id))['c']]).toEqual([['a', 'f'], 'skipped']);
    });

    it('K15: finally runs after a try and a catch that fail, and the run fails', async () => {
      const inner = tryCatch('t', [failing('x')], [failing('y')], [step('f')]);
      const id = await stage.run([parallel('p', [inner], [step('z')])]);
      expect((await stage.until(id)).state).toBe('failed');
      expect(await stage.ran(id)).toContain('f');
      expect(await stage.tree(id)).toMatchObject({ t: 'failed', x: 'failed', y: 'failed', f: 'completed' });
    });
  });
}
