import { describe, expect, it } from 'vitest';
import { failing, forEach, loop, parallel, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Loops and items: scenarios K17 to K25. */
export function describePasses(stage: Stage): void {
  describe(`passes over ${stage.backend}`, () => {
    it('K17: a loop whose condition is false at the start has no pass', async () => {
      const body = [forEach('e', [step('inner')])];
      const id = await stage.run([loop('l', [step('a'), ...body], { condition: 'data.go' }), step('z')], {
        context: { data: { go: false, xs: [1] } },
      });
      expect((await stage.until(id)).state).toBe('completed');
      expect(await stage.ran(id)).toEqual(['z']);
      expect(await stage.tree(id)).toMatchObject({
        l: 'completed',
        a: 'skipped',
        e: 'skipped',
        inner: 'skipped',
      });
    });

    it.each([
      ['in its body', [step('w', { handler: 'work' })]],
      ['in a branch of its body', [parallel('p', [step('w', { handler: 'work' })], [step('x')])]],
    ])('K19: a loop ends when a worker %s says stop in the second pass', async (_, body) => {
      const id = await stage.run([loop('l', body, { break_on: 'data.stop', max_iterations: 9 })]);
      for (const output of [{ stop: false }, { stop: true }]) {
        await stage.until(id, 'waiting');
        await stage.complete(await stage.poll('work'), output);
      }
      expect((await stage.until(id)).state).toBe('completed');
      const rows = await stage.outputs(id);
      expect(rows.filter((row) => row.block_id === 'w')).toHaveLength(2);
      expect(rows.findLast((row) => row.block_id === 'l').output).toEqual({ _iterations: 2 });
    });

    it.each([
      ['a missing path', 'data.nothing.there'],
      ['a number', 'five'],
      ['an empty list', 'none'],
      ['a text', 'word'],
      ['a template that gives null', '{{ data.nothing }}'],
    ])('K23: a for_each over %s completes without a body', async (_, collection) => {
      const data = { five: 5, none: [], word: 'abc' };
      const id = await stage.run(
        [loop('l', [forEach('e', [step('a')], { collection })], { max_iterations: 2 }), step('z')],
        {
          context: { data },
        },
      );
      expect((await stage.until(id)).state).toBe('completed');
      expect((await stage.ran(id)).filter((block) => block !== 'l')).toEqual(['z']);
      expect(await stage.tree(id)).toMatchObject({ e: 'completed', a: 'skipped' });
    });

    it('K25: a try around a for_each catches the failure of the second item, once', async () => {
      const bad = failing('a', { when: 'item == 2' });
      const id = await stage.run([tryCatch('t', [forEach('e', [bad, step('b')])], [step('caught')])], {
        context: { data: { xs: [1, 2, 3] } },
      });
      expect((await stage.until(id)).state).toBe('completed');
      expect((await stage.ran(id)).filter((block) => block !== 'e')).toEqual(['b', 'caught']);
    });
  });
}
