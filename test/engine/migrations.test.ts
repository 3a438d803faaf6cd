import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parallel, step } from './support/blocks.ts';
import { type Blocks, finished, gate, moved, q, waiting, world } from './support/moving.ts';
import { calledBlocks, migrate, migrated, treeOf } from './support/reshaping.ts';
import { TENANT } from './support/test-engine.ts';

describe('migration to another version (20.5)', () => {
  it('goes on with what stands there now, and repeats nothing [OP-13] [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), gate('g'), q('c')]);
    await moved(engine, id, [q('a'), gate('g'), q('d')]);
    expect(await finished(engine, id)).toEqual(['a', 'g', 'd']);
  });

  it('runs new blocks before ended ones next, in document order, once what waits has ended [OP-14] [LIST-1]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), q('b'), gate('g'), q('c')]);
    await moved(engine, id, [q('n1'), q('a'), q('n2'), q('b'), gate('g'), q('c')]);
    expect(await treeOf(engine, id)).toMatchObject({
      n1: 'pending',
      a: 'completed',
      n2: 'pending',
      g: 'waiting:input',
    });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g', 'n1', 'n2', 'c']);
  });

  it('does so in every list of a nest [OP-14]', async () => {
    const engine = world();
    const nest = (...inner: Blocks): Blocks => [
      {
        type: 'cancellation_scope',
        id: 's',
        blocks: [{ type: 'try_catch', id: 't', try_block: inner, catch_block: [q('k')] }],
      },
    ];
    const id = await waiting(engine, nest(q('a'), gate('g')));
    await moved(engine, id, nest(q('n'), q('a'), gate('g')));
    expect(await finished(engine, id)).toEqual(['a', 'g', 'n']);
  });

  it('leaves a completed composite completed, whatever is new in it [OP-14]', async () => {
    const engine = world();
    const p = (...more: Blocks): JsonObject => parallel('p', [q('a')], [q('b'), ...more]);
    const id = await waiting(engine, [p(), gate('g')]);
    await moved(engine, id, [p(q('n')), gate('g')]);
    expect(await treeOf(engine, id)).toMatchObject({ p: 'completed', n: 'skipped' });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g']);
  });

  it('cancels what waits and has no counterpart, with its worker task [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [step('w', 'away'), q('z')]);
    const task = await engine.poll('away');
    await moved(engine, id, [q('n'), q('z')]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['n', 'z']);
    if (task === null) throw new Error('there is no task');
    expect(await engine.report(task, { ok: true, output: 'late' })).toBe('stale');
  });

  it('cancels the child of a removed sub_sequence [OP-14]', async () => {
    const engine = world();
    await engine.publish([gate('inner')], { name: 'child' });
    const id = await waiting(engine, [{ type: 'sub_sequence', id: 'sub', sequence_name: 'child' }, q('z')]);
    await moved(engine, id, [q('z')]);
    await engine.untilEnded(id);
    const [child] = (await engine.store.listChildren(TENANT, id)) ?? [];
    expect((await engine.untilEnded(child?.id ?? '')).state).toBe('cancelled');
  });

  it('takes a block of another type or parent for a new one [OP-14]', async () => {
    const engine = world();
    const scope = (...blocks: Blocks): JsonObject => ({ type: 'cancellation_scope', id: 's', blocks });
    const id = await waiting(engine, [q('a'), q('b'), gate('g')]);
    await moved(engine, id, [
      scope(q('a')),
      { type: 'loop', id: 'b', condition: 'false', body: [q('b2')] },
      gate('g'),
    ]);
    expect(await treeOf(engine, id)).toMatchObject({ s: 'pending', a: 'pending', b: 'pending' });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g', 'a']);
  });

  it('does not check the input schema of the target [OP-15]', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const target = await engine.publish([gate('g'), q('z')], {
      input_schema: { type: 'object', required: ['n'] },
    });
    await migrated(engine, id, target);
    expect(await finished(engine, id)).toEqual(['g', 'z']);
  });

  it('and back again begins what was removed in between anew [OP-14] [OUT-3]', async () => {
    const engine = world();
    const first = await engine.publish([q('a'), gate('g')]);
    const id = await engine.start(first);
    await engine.untilState(id, 'waiting');
    await moved(engine, id, [gate('g')]);
    await migrated(engine, id, first);
    expect(await treeOf(engine, id)).toEqual({ a: 'pending', g: 'waiting:input' });
    expect(await finished(engine, id)).toEqual(['a', 'g', 'a']);
  });

  it('writes a journal entry and no audit row (http-api.md 7)', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const audit = await engine.store.listAudit(TENANT, id, 100);
    await moved(engine, id, [gate('g'), q('z')]);
    expect(await engine.store.listAudit(TENANT, id, 100)).toEqual(audit);
    const kinds = engine.sentCommits(id).flatMap(({ journal }) => journal.map(({ kind }) => kind));
    expect(kinds).toEqual(['migrated']);
  });

  it('is refused for a run that has ended, and for a target that is not there [OP-13]', async () => {
    const engine = world();
    const sequence = await engine.publish([q('a')]);
    const id = await engine.start(sequence);
    await engine.untilEnded(id);
    expect(await migrate(engine, id, sequence)).toMatchObject({ error: { kind: 'invalid_argument' } });
    expect(await migrate(engine, id, engine.nextId())).toMatchObject({ error: { kind: 'not_found' } });
    expect(await migrate(engine, engine.nextId(), sequence)).toMatchObject({ error: { kind: 'not_found' } });
  });
});
