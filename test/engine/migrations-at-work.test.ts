import { describe, expect, it } from 'vitest';
import { parallel, step } from './support/blocks.ts';
import { type Blocks, answer, finished, gate, moved, q, waiting, world } from './support/moving.ts';
import { calledBlocks, injected, migrate, migrated, preview, treeOf } from './support/reshaping.ts';
import { TENANT } from './support/test-engine.ts';

describe('migration and injected blocks (20.4, 20.5)', () => {
  it('carries injected blocks along, beside the blocks that they stood beside [OP-10] [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), gate('g'), q('c')]);
    await injected(engine, id, [q('x')], 2);
    await injected(engine, id, [q('y')]);
    await moved(engine, id, [q('n'), q('a'), gate('g'), q('b'), q('c')]);
    expect(Object.keys(await treeOf(engine, id))).toEqual(['n', 'a', 'g', 'b', 'x', 'c', 'y']);
    expect(await finished(engine, id)).toEqual(['a', 'g', 'n', 'b', 'x', 'c', 'y']);
  });

  it('lets an injected block give way to one of the target with its id, and keeps its state [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g'), q('z')]);
    await injected(engine, id, [q('x')], 1);
    await injected(engine, id, [gate('h')], 2);
    await answer(engine, id);
    await engine.untilState(id, 'waiting');
    const target = await engine.publish([gate('g'), q('x'), q('z')]);
    const told = await preview(engine, id, target);
    expect(told).toMatchObject({ value: { preview: { injected: { carried: ['h'], replaced: ['x'] } } } });
    await migrated(engine, id, target);
    expect((await engine.view(id)).injected?.map((block) => block['id'])).toEqual(['h']);
    expect(await treeOf(engine, id)).toEqual({
      g: 'completed',
      x: 'completed',
      h: 'waiting:input',
      z: 'pending',
    });
    await answer(engine, id, 'h');
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['g', 'x', 'h', 'z']);
  });
});

describe('migration of a run that is at work (RULINGS A6)', () => {
  it('waits until the handlers that run have ended, and begins nothing before it [OP-14]', async () => {
    const engine = world();
    const blocks = [parallel('p', [step('a', 'long'), q('b')], [step('c', 'slow'), q('d')]), q('z')];
    const id = await engine.start(await engine.publish(blocks));
    await engine.time.pass(250);
    const target = await engine.publish([
      parallel('p', [step('a', 'long'), q('n')], [step('c', 'slow'), q('m')]),
      q('z'),
    ]);
    expect(await migrated(engine, id, target)).toMatchObject({ isApplied: false });
    await engine.time.pass(10_000);
    expect(calledBlocks(engine, id)).toEqual(['a', 'c']);
    const another = await migrate(engine, id, target);
    expect(another).toMatchObject({ error: { kind: 'conflict', code: 'instance_busy' } });
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'c', 'n', 'm', 'z']);
    expect((await engine.view(id)).sequenceId).toBe(target);
  });

  it('does not hold up a cancel, which it then comes too late for (RULINGS A12)', async () => {
    const engine = world();
    const id = await engine.start(await engine.publish([step('a', 'long'), q('b')]));
    await engine.time.pass(250);
    const target = await engine.publish([step('a', 'long'), q('n')]);
    await migrated(engine, id, target);
    await engine.signal(id, 'cancel');
    expect((await engine.untilEnded(id, 10_000)).state).toBe('cancelled');
  });

  it('is refused with its reason when the run has gone where it has no place any more', async () => {
    const engine = world();
    const lists = (tries: Blocks, finals: Blocks): Blocks => [
      { type: 'try_catch', id: 't', try_block: tries, catch_block: [q('k')], finally_block: finals },
    ];
    const first = await engine.publish(lists([step('a', 'long_broken'), q('c')], [q('f')]));
    const id = await engine.start(first);
    await engine.time.pass(250);
    // What has not begun may go to another list; once the try list has failed it is over there.
    const target = await engine.publish(lists([step('a', 'long_broken')], [q('c'), q('f')]));
    expect(await migrated(engine, id, target)).toMatchObject({ isApplied: false });
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'k', 'f']);
    const [change] = await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id });
    expect(change?.refused).toContain('c has begun in another list');
    expect(await engine.view(id)).toMatchObject({ sequenceId: first, shape: { accepted: 1, applied: 1 } });
    const kinds = engine.sentCommits(id).flatMap(({ journal }) => journal.map(({ kind }) => kind));
    expect(kinds).toContain('migration_refused');
  });

  it('two at once both take effect, one after the other', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const targets = await Promise.all([
      engine.publish([gate('g'), q('x')]),
      engine.publish([gate('g'), q('y')]),
    ]);
    const answers = await Promise.all(targets.map((target) => migrate(engine, id, target)));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect(targets).toContain((await engine.view(id)).sequenceId);
    expect((await finished(engine, id)).length).toBe(2);
  });
});

describe('the preview of a migration (20.5)', () => {
  it('says of each block what becomes of it and why, and changes nothing', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), parallel('p', [step('w', 'away')], [gate('g')]), q('c')]);
    const target = await engine.publish([
      q('n'),
      parallel('p', [gate('g')]),
      q('a'),
      parallel('c', [q('c1')]),
    ]);
    const before = await engine.view(id);
    const told = await preview(engine, id, target);
    if (!told.ok) throw new Error(told.error.message);
    const { kept, dropped, added, refusals } = told.value.preview;
    expect(refusals).toEqual([]);
    expect(kept.map(({ blockId, state }) => [blockId, state])).toEqual([
      ['a', 'completed'],
      ['p', 'running'],
      ['g', 'waiting'],
    ]);
    expect(dropped).toEqual([
      {
        blockId: 'w',
        blockType: 'step',
        state: 'waiting',
        reason: 'not in the target',
        cancels: 'worker_task',
      },
      {
        blockId: 'c',
        blockType: 'step',
        state: 'pending',
        reason: 'a parallel in the target',
        cancels: null,
      },
    ]);
    expect(added.map(({ blockId, state }) => [blockId, state])).toEqual([
      ['n', 'pending'],
      ['c', 'pending'],
      ['c1', 'pending'],
    ]);
    expect(await engine.view(id)).toEqual(before);
  });

  it('says of a dropped block what hangs on it, and of a composite nothing: its blocks stand for themselves', async () => {
    const engine = world();
    const each = { type: 'for_each', id: 'each', collection: 'rows', body: [step('w', 'away')] };
    const polling = { type: 'loop', id: 'l', condition: 'true', poll_interval: 60, body: [q('b')] };
    const blocks = [parallel('p', [each], [polling], [parallel('inner', [gate('g')])])];
    const id = await engine.start(await engine.publish(blocks), { data: { rows: [1, 2] } });
    await engine.time.pass(1000);
    const told = await preview(engine, id, await engine.publish([q('n')]));
    if (!told.ok) throw new Error(told.error.message);
    expect(told.value.preview.dropped.map(({ blockId, cancels }) => [blockId, cancels])).toEqual([
      ['p', null],
      ['each', null],
      ['w', 'worker_task'],
      ['l', 'wait'],
      ['b', null],
      ['inner', null],
      ['g', 'gate'],
    ]);
  });
});
