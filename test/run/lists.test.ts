import { describe, expect, it } from 'vitest';
import { parallel, pure, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { fails, ok } from './support/script.ts';

describe('list rules', () => {
  it('runs one block after the other [LIST-1] [LIST-2]', async () => {
    const run = await play({ blocks: [step('a'), pure('b'), step('c')] });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'b', 'c']);
    expect(run.outputs).toEqual(['a={"from":"a"}', 'b={"from":"b"}', 'c={"from":"c"}']);
    expect(run.tree).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
  });
  it('skips the rest of a list whose block failed [LIST-3]', async () => {
    const run = await play({
      blocks: [step('a'), step('b'), parallel('p', [[step('c')], [step('d')]])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({ a: 'failed', b: 'skipped', p: 'skipped', c: 'skipped', d: 'skipped' });
  });
  it('waits for a worker', async () => {
    const run = await play({ blocks: [task('a'), step('b')], on: { a: ok({ x: 1 }, { takesMs: 10 }) } });
    expect(run.state).toBe('completed');
    expect(run.instance.data).toEqual({ x: 1 });
  });
  it('catches', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [step('c')], [step('d')])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({ t: 'completed', a: 'failed', b: 'skipped', c: 'completed', d: 'completed' });
  });
});
