import { expect, it } from 'vitest';
import type { ForkRequest } from '../../src/ports/store/history.ts';
import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import {
  frame,
  newInstance,
  nextId,
  row,
  sequence,
  settleAs,
  turnOf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeGoingBack(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  async function committed(...changes: readonly Partial<TurnCommit>[]): Promise<Claim> {
    const claim = await world.claim(await world.start());
    for (const [rev, change] of changes.entries()) await world.apply(turnOf(claim, { rev, ...change }));
    return claim;
  }
  const shown = async (id: string): Promise<readonly string[]> =>
    ((await world.store.listOutputs(null, id, { node: true, retry: true })) ?? []).map(
      ({ blockId }) => blockId,
    );
  const history = async (id: string) => {
    const found = await world.store.getHistory(null, id);
    if (found === null) throw new Error(`there is no instance ${id}`);
    return found;
  };

  it('the history has all rows with their places, values only where they say how far the run is', async () => {
    const node = { state: 'skipped' };
    const claim = await committed(
      {
        rows: [
          row({ blockId: 'a', output: { big: true } }),
          row({ blockId: 'b', kind: 'node', output: node }),
        ],
      },
      { rows: [row({ blockId: 'c', kind: 'counter', output: { _iterations: 1 }, attempt: 1 })] },
    );
    const { rows, instance, frames } = await history(claim.instanceId);
    expect(
      rows.map(({ blockId, rev, ordinal, output, supersededBy }) => [
        blockId,
        rev,
        ordinal,
        output,
        supersededBy,
      ]),
    ).toEqual([
      ['a', 1, 0, null, null],
      ['b', 1, 1, node, null],
      ['c', 2, 0, { _iterations: 1 }, null],
    ]);
    expect([instance.rev, frames]).toEqual([2, []]);
    expect(await world.store.getHistory('somebody else', claim.instanceId)).toBe(null);
    expect(await world.store.getHistory(null, nextId())).toBe(null);
  });

  it('going back takes the named rows out of the lists and deletes none (RULINGS B1)', async () => {
    const claim = await committed(
      { rows: [row({ blockId: 'a' }), row({ blockId: 'b' })] },
      { rows: [row({ blockId: 'c' })] },
    );
    const superseded = [
      { blockId: 'b', rev: 1, ordinal: 1 },
      { blockId: 'c', rev: 2, ordinal: 0 },
      { blockId: 'a', rev: 2, ordinal: 0 },
    ];
    const newRun = { runNo: 2, runId: nextId() };
    const rows = [row({ blockId: 'b' })];
    await world.apply(
      turnOf(claim, {
        rev: 2,
        goBack: [{ superseded, signals: [] }],
        instance: { newRun },
        rows,
        settle: settleAs('scheduled', { dueAt: 1 }),
      }),
    );
    expect(await shown(claim.instanceId)).toEqual(['a', 'b']);
    const { rows: all } = await history(claim.instanceId);
    expect(all.map(({ blockId, runNo, supersededBy }) => [blockId, runNo, supersededBy])).toEqual([
      ['a', 1, null],
      ['b', 1, 2],
      ['c', 1, 2],
      ['b', 2, null],
    ]);
    const timeline = await world.store.listTimeline(null, claim.instanceId, { offset: 1, limit: 2 });
    expect(timeline?.map(({ blockId, supersededBy }) => [blockId, supersededBy])).toEqual([
      ['b', 2],
      ['c', 2],
    ]);
  });

  it('the timeline has no hidden rows, is empty for a run without any, and unknown for no instance', async () => {
    const claim = await committed({
      rows: [row({ blockId: 'a', kind: 'node' }), row({ blockId: 'b', kind: 'retry' })],
    });
    const page = { offset: 0, limit: 10 };
    expect((await world.store.listTimeline(null, claim.instanceId, page))?.map(({ kind }) => kind)).toEqual([
      'retry',
    ]);
    expect(await world.store.listTimeline(null, await world.start(), page)).toEqual([]);
    expect(await world.store.listTimeline(null, claim.instanceId, { offset: 5, limit: 1 })).toEqual([]);
    expect(await world.store.listTimeline(null, nextId(), page)).toBe(null);
    expect(await world.store.listTimeline(null, nextId(), { offset: 5, limit: 1 })).toBe(null);
  });

  it('going back forgets cached results and keeps the rest of the key/value store [CACHE-3]', async () => {
    const kv = [
      { key: '__cache__:k', value: 1 },
      { key: 'kept', value: 2 },
    ];
    const claim = await committed({ kv });
    const newRun = { runNo: 2, runId: nextId() };
    const goBack = [{ superseded: [], signals: [] }];
    await world.apply(turnOf(claim, { rev: 1, goBack, instance: { newRun }, settle: settleAs('paused') }));
    const state = await world.store.readState(claim, ['__cache__:k', 'kept']);
    expect([...state]).toEqual([['kept', 2]]);
  });

  it('signals of going back are facts that the settle does not overlook [OP-6]', async () => {
    const claim = await committed({});
    const signals = ['pause', 'custom:x'].map((signalType) => ({
      id: nextId(),
      signalType,
      payload: { n: 1 },
    }));
    const newRun = { runNo: 2, runId: nextId() };
    const goBack = [{ superseded: [], signals }];
    const later = (await world.now()) + 60_000;
    await world.apply(
      turnOf(claim, {
        rev: 1,
        goBack,
        instance: { newRun },
        settle: settleAs('scheduled', { dueAt: later }),
      }),
    );
    const { inbox, instance } = await history(claim.instanceId);
    expect(inbox.map(({ id, fact }) => [id, fact.kind === 'signal' ? fact.signalType : ''])).toEqual(
      signals.map(({ id, signalType }) => [id, signalType]),
    );
    expect(instance.dueAt).toBe(await world.now());
  });

  /** A source whose sequence is published: a fork holds it against deletion. */
  async function source(...changes: readonly Partial<TurnCommit>[]): Promise<Claim> {
    const claim = await committed(...changes);
    const id = claim.instance.sequenceId;
    if ((await world.store.getSequence(null, id)) === null)
      await world.store.insertSequence(sequence({ id }));
    return claim;
  }

  const forkOf = (claim: Claim, changes: Partial<ForkRequest> = {}): ForkRequest => ({
    source: { tenantId: claim.tenantId, instanceId: claim.instanceId },
    instance: newInstance({ sequenceId: claim.instance.sequenceId, data: { of: 'the fork' }, dryRun: true }),
    runNo: 2,
    copied: [],
    rows: [],
    frames: [],
    stateAtRev: null,
    signals: [],
    journal: [],
    ...changes,
  });

  it('a fork begins in the middle, with copies of rows, frames and values stored aside [OP-8]', async () => {
    const value = { key: 'items:1', value: [1, 2, 3] };
    const claim = await source(
      {
        rows: [row({ blockId: 'a', output: { n: 1 }, startedAt: 900 }), row({ blockId: 'b' })],
        values: [value],
      },
      { frames: [write(frame({ cursor: 2 }))] },
    );
    const before = await history(claim.instanceId);
    const copyId = nextId();
    const inner = frame({ blockId: 'p', cursor: 1, detail: { kind: 'cancellation_scope' } });
    const added = row({ blockId: 'c', output: 'by hand' });
    const request = forkOf(claim, {
      copied: [{ blockId: 'a', rev: 1, ordinal: 0, copyId }],
      rows: [added],
      frames: [frame({ cursor: 1 }), inner],
    });
    const { id } = request.instance;
    expect(await world.store.fork(request)).toBe('created');
    expect(await world.store.fork(request)).toBe('created');
    const { instance, frames, rows } = await history(id);
    expect(instance).toMatchObject({
      state: 'scheduled',
      runNo: 2,
      dryRun: true,
      data: { of: 'the fork' },
      hasHistory: true,
    });
    expect(frames).toEqual([frame({ cursor: 1 }), inner]);
    const [first] = before.rows;
    expect(
      rows.map(({ id: rowId, blockId, runNo, createdAt }) => [rowId, blockId, runNo, createdAt]),
    ).toEqual([
      [copyId, 'a', 1, first?.createdAt],
      [added.id, 'c', 2, await world.now()],
    ]);
    expect(
      (await world.store.listOutputs(null, id, { node: false, retry: false }))?.map(({ output }) => output),
    ).toEqual([{ n: 1 }, 'by hand']);
    expect(
      await world.store.readItems({ tenantId: claim.tenantId, instanceId: id }, 'items:1', 1, 5),
    ).toEqual([2, 3]);
    expect(await history(claim.instanceId)).toEqual(before);
    expect((await world.claim(id)).frames).toEqual([frame({ cursor: 1 }), inner]);
  });

  it('a fork gets the key/value store of the very rev that was read, without cached results [OP-8]', async () => {
    const kv = [
      { key: '__cache__:k', value: 1 },
      { key: 'kept', value: 2 },
    ];
    const claim = await source({ kv });
    const stale = forkOf(claim, { stateAtRev: 0 });
    expect(await world.store.fork(stale)).toBe('moved');
    expect(await world.store.getInstance(null, stale.instance.id)).toBe(null);
    const request = forkOf(claim, { stateAtRev: 1 });
    expect(await world.store.fork(request)).toBe('created');
    const key = { tenantId: claim.tenantId, instanceId: request.instance.id };
    expect([...(await world.store.readState(key, ['kept', '__cache__:k']))]).toEqual([['kept', 2]]);
    const bare = forkOf(claim);
    await world.store.fork(bare);
    expect(await world.store.countState({ tenantId: claim.tenantId, instanceId: bare.instance.id })).toBe(0);
  });

  it('a fork of what is not there, or of another tenant, is not created', async () => {
    const claim = await source({});
    const unknown = forkOf(claim, { source: { tenantId: claim.tenantId, instanceId: nextId() } });
    expect(await world.store.fork(unknown)).toBe('not_found');
    const signals = [{ id: nextId(), signalType: 'pause', payload: null }];
    const signalled = forkOf(claim, { signals });
    expect(await world.store.fork(signalled)).toBe('created');
    expect((await history(signalled.instance.id)).inbox.map(({ id }) => id)).toEqual([signals[0]?.id]);
  });
}
