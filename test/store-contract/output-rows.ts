import { expect, it } from 'vitest';
import type { OutputRow, RowKind } from '../../src/core/run/output-row.ts';
import type { TurnCommit } from '../../src/ports/store/turn.ts';
import { auditEntry, nextId, row, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { expectRejected, useWorld } from './world.ts';

const KINDS: readonly RowKind[] = [
  'result',
  'retry',
  'error',
  'breach',
  'gate',
  'escalation',
  'counter',
  'variant',
  'interceptor',
  'sla',
  'node',
];

export function describeOutputRows(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  /** Commits these changes one after the other in one turn; answers the instance's key. */
  async function committed(...changes: readonly Partial<TurnCommit>[]) {
    const claim = await world.claim(await world.start());
    for (const [rev, change] of changes.entries()) await world.apply(turnOf(claim, { rev, ...change }));
    return { tenantId: claim.tenantId, instanceId: claim.instanceId, claim };
  }
  const listed = async (id: string): Promise<readonly OutputRow[]> =>
    (await world.store.listOutputs(null, id, { node: true, retry: true })) ?? [];

  it('a row comes back with its place in the order and its size (RULINGS A35)', async () => {
    const rows = [
      row({ output: { é: 'x' }, startedAt: 900 }),
      row({ blockId: 'next', output: null, attempt: 2 }),
    ];
    const key = await committed({}, { rows });
    const now = await world.now();
    expect(await listed(key.instanceId)).toEqual([
      {
        ...rows[0],
        instanceId: key.instanceId,
        runNo: 1,
        rev: 2,
        ordinal: 0,
        outputSize: 10,
        createdAt: now,
      },
      { ...rows[1], instanceId: key.instanceId, runNo: 1, rev: 2, ordinal: 1, outputSize: 4, createdAt: now },
    ]);
  });

  it('rows stand by (rev, ordinal), whatever their ids say (RULINGS A35)', async () => {
    const [low, high] = [nextId(), nextId()];
    const key = await committed(
      { rows: [row({ id: high, blockId: 'a' }), row({ id: low, blockId: 'b' })] },
      { rows: [row({ blockId: 'c' })] },
    );
    expect(
      (await listed(key.instanceId)).map(({ blockId, rev, ordinal }) => [blockId, rev, ordinal]),
    ).toEqual([
      ['a', 1, 0],
      ['b', 1, 1],
      ['c', 2, 0],
    ]);
  });

  it('the instants of rows never go back [OUT-1]', async () => {
    const key = await committed({ rows: [row({ blockId: 'a' })] });
    await world.advance(3);
    await world.apply(turnOf(key.claim, { rev: 1, rows: [row({ blockId: 'b' })] }));
    const [first, second] = await listed(key.instanceId);
    expect((second?.createdAt ?? 0) - (first?.createdAt ?? 0)).toBe(3);
  });

  it('lists leave hidden kinds out unless asked for [OUT-4]', async () => {
    const key = await committed({ rows: KINDS.map((kind) => row({ kind, blockId: kind })) });
    const kindsOf = async (include: { node: boolean; retry: boolean }): Promise<readonly string[]> =>
      ((await world.store.listOutputs(null, key.instanceId, include)) ?? []).map(({ kind }) => kind);
    const ordinary = KINDS.filter((kind) => kind !== 'node' && kind !== 'retry');
    expect(await kindsOf({ node: false, retry: false })).toEqual(ordinary);
    expect(await kindsOf({ node: true, retry: true })).toEqual(KINDS);
    expect(await kindsOf({ node: false, retry: true })).toEqual(KINDS.filter((kind) => kind !== 'node'));
    expect(await kindsOf({ node: true, retry: false })).toEqual(KINDS.filter((kind) => kind !== 'retry'));
  });

  it('a template reads the latest visible row of a block [OUT-5]', async () => {
    const visible = KINDS.filter((kind) => !['node', 'retry', 'interceptor', 'sla'].includes(kind));
    const key = await committed(
      { rows: KINDS.map((kind) => row({ kind, blockId: kind, output: { kind } })) },
      {
        rows: [row({ blockId: 'pay', output: 'old' }), row({ blockId: 'pay', kind: 'error', output: 'new' })],
      },
      { rows: [row({ blockId: 'pay', kind: 'node', attempt: 1, output: 'hidden' })] },
    );
    const all = await world.store.readOutputs(key, 'all');
    expect([...all.keys()].sort()).toEqual([...visible, 'pay'].sort());
    expect(all.get('pay')).toBe('new');
    expect(all.get('counter')).toEqual({ kind: 'counter' });
    expect(await world.store.readOutputs(key, ['pay', 'retry', 'unknown'])).toEqual(
      new Map([['pay', 'new']]),
    );
    expect(await world.store.readOutputs(key, [])).toEqual(new Map());
  });

  it('the tree reads the latest result or node row of each block', async () => {
    const key = await committed(
      { rows: [row({ blockId: 'a', iteration: 'l:0', startedAt: 5 }), row({ blockId: 'b', kind: 'gate' })] },
      {
        rows: [
          row({ blockId: 'a', iteration: 'l:1', startedAt: 6, attempt: 1 }),
          row({ blockId: 'b', kind: 'node', output: { state: 'skipped' } }),
          row({ blockId: 'a', iteration: 'l:1', kind: 'counter' }),
        ],
      },
    );
    const createdAt = await world.now();
    const rows = await world.store.listNodeRows(null, key.instanceId);
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(
      expect.arrayContaining([
        { blockId: 'a', iteration: 'l:1', kind: 'result', attempt: 1, startedAt: 6, createdAt, node: null },
        {
          blockId: 'b',
          iteration: '',
          kind: 'node',
          attempt: 0,
          startedAt: null,
          createdAt,
          node: { state: 'skipped' },
        },
      ]),
    );
  });

  const same = { blockId: 'pay', iteration: 'l:1', attempt: 1 } as const;
  it('one row per run, block, pass, kind and attempt (RULINGS A35)', async () => {
    const key = await committed({ rows: [row({ ...same, kind: 'error' })] });
    const again = turnOf(key.claim, { rev: 1, rows: [row({ ...same, kind: 'error' })] });
    await expectRejected(world.store.commit([again]));
    const others = [
      row({ ...same, kind: 'error', attempt: 2 }),
      row({ ...same, kind: 'error', iteration: 'l:2' }),
      row({ ...same, kind: 'error', blockId: 'ship' }),
      row({ ...same, kind: 'breach' }),
    ];
    await world.apply(turnOf(key.claim, { rev: 1, rows: others }));
  });

  it('one result per run, block and pass, whatever the attempt (RULINGS A35) [MEMO-2]', async () => {
    const key = await committed({ rows: [row(same)] });
    const again = turnOf(key.claim, { rev: 1, rows: [row({ ...same, attempt: 2 })] });
    await expectRejected(world.store.commit([again]));
    expect(await listed(key.instanceId)).toHaveLength(1);
  });

  it('a new run may write what the run before wrote (RULINGS A35, B1)', async () => {
    const key = await committed({ rows: [row(same)] });
    const newRun = { runNo: 2, runId: nextId() };
    await world.apply(turnOf(key.claim, { rev: 1, instance: { newRun }, rows: [row(same)] }));
    expect((await listed(key.instanceId)).map(({ runNo }) => runNo)).toEqual([1, 2]);
  });

  it('superseded rows leave lists and templates, and their place is free again (RULINGS B1)', async () => {
    const key = await committed({
      rows: [row({ blockId: 'pay', kind: 'error' }), row({ blockId: 'pay' }), row({ blockId: 'ship' })],
    });
    const rule = { blockIds: ['pay'], kinds: ['error' as const], iteration: null, keepLatest: false };
    await world.apply(
      turnOf(key.claim, {
        rev: 1,
        supersede: [rule],
        rows: [row({ blockId: 'pay', kind: 'error', output: 2 })],
      }),
    );
    expect((await listed(key.instanceId)).map(({ blockId, kind, rev }) => [blockId, kind, rev])).toEqual([
      ['pay', 'result', 1],
      ['ship', 'result', 1],
      ['pay', 'error', 2],
    ]);
    await world.apply(turnOf(key.claim, { rev: 2, supersede: [{ ...rule, kinds: ['error', 'result'] }] }));
    expect(await world.store.readOutputs(key, 'all')).toEqual(new Map([['ship', { value_cents: 4100 }]]));
  });

  it('a pass is superseded with the passes inside it, and no other', async () => {
    const passes = ['', 'l:1', 'l:1/m:0', 'l:1/m:0/n:5', 'l:10', 'l:10/m:0', 'k:1'];
    const key = await committed({ rows: passes.map((iteration) => row({ iteration })) });
    const rule = { blockIds: ['lookup'], kinds: ['result' as const], keepLatest: false };
    const left = async (): Promise<readonly string[]> =>
      (await listed(key.instanceId)).map(({ iteration }) => iteration);
    await world.apply(turnOf(key.claim, { rev: 1, supersede: [{ ...rule, iteration: 'l:1' }] }));
    expect(await left()).toEqual(['', 'l:10', 'l:10/m:0', 'k:1']);
    await world.apply(turnOf(key.claim, { rev: 2, supersede: [{ ...rule, iteration: '' }] }));
    expect(await left()).toEqual([]);
  });

  it('keepLatest spares the newest row of each block [LOOP-10]', async () => {
    const key = await committed(
      { rows: [row({ blockId: 'a', iteration: 'l:0' }), row({ blockId: 'b', iteration: 'l:0' })] },
      { rows: [row({ blockId: 'a', iteration: 'l:1' })] },
    );
    const rule = { blockIds: ['a', 'b'], kinds: ['result' as const], iteration: 'l:0', keepLatest: true };
    await world.apply(turnOf(key.claim, { rev: 2, supersede: [rule] }));
    expect((await listed(key.instanceId)).map(({ blockId, iteration }) => [blockId, iteration])).toEqual([
      ['b', 'l:0'],
      ['a', 'l:1'],
    ]);
  });

  it('a rule does not reach the rows of its own commit', async () => {
    const rule = { blockIds: ['a'], kinds: ['result' as const], iteration: null, keepLatest: false };
    const key = await committed(
      { rows: [row({ blockId: 'a' })] },
      { supersede: [rule], rows: [row({ blockId: 'a', output: 'second' })] },
    );
    expect((await listed(key.instanceId)).map(({ output }) => output)).toEqual(['second']);
  });

  it('rows stay when the run ends', async () => {
    const key = await committed({ rows: [row()] });
    const audit = [auditEntry('running', 'completed')];
    await world.apply(turnOf(key.claim, { rev: 1, strict: true, audit, settle: settleAs('completed') }));
    expect(await listed(key.instanceId)).toHaveLength(1);
  });
}
