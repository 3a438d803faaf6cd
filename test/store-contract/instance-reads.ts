import { expect, it } from 'vitest';
import type { ListInstancesQuery } from '../../src/ports/store/instance-lists.ts';
import type { ListGatesQuery } from '../../src/ports/store/reads.ts';
import {
  TENANT,
  auditEntry,
  frame,
  gate,
  leaf,
  nextId,
  sequence,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { ALL_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeInstanceReads(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const queryOf = (overrides: Partial<ListInstancesQuery> = {}): ListInstancesQuery => ({
    tenantId: null,
    namespace: null,
    sequenceId: null,
    states: [],
    metadata: [],
    limit: 100,
    offset: 0,
    ...overrides,
  });
  const idsOf = async (overrides: Partial<ListInstancesQuery> = {}): Promise<readonly string[]> =>
    (await world.store.listInstances(queryOf(overrides))).map(({ id }) => id);

  it('an instance is read by its tenant or without one', async () => {
    const id = await world.start();
    expect((await world.store.getInstance(TENANT, id))?.id).toBe(id);
    expect((await world.store.getInstance(null, id))?.id).toBe(id);
    expect(await world.store.getInstance('other', id)).toBeNull();
    expect(await world.store.getInstance(null, nextId())).toBeNull();
  });

  it('instances are listed by their last change, newest first, then by id', async () => {
    const first = await world.start();
    const second = await world.start();
    await world.advance(1);
    const third = await world.start();
    expect(await idsOf()).toEqual([third, second, first]);
    await world.advance(1);
    await world.apply(turnOf(await world.claim(first), { settle: settleAs('paused') }));
    expect(await idsOf()).toEqual([first, third, second]);
    expect(await idsOf({ limit: 1, offset: 1 })).toEqual([third]);
    expect(await idsOf({ offset: 3 })).toEqual([]);
  });

  it('the list is filtered by tenant, namespace and sequence', async () => {
    const sequenceId = nextId();
    const plain = await world.start();
    const other = await world.start({ tenantId: 'other' });
    const spaced = await world.start({ namespace: 'returns' });
    const special = await world.start({ sequenceId });
    expect(await idsOf({ tenantId: TENANT })).toEqual([special, spaced, plain]);
    expect(await idsOf({ tenantId: 'other' })).toEqual([other]);
    expect(await idsOf({ namespace: 'returns' })).toEqual([spaced]);
    expect(await idsOf({ sequenceId })).toEqual([special]);
  });

  it('the list is filtered by states', async () => {
    const byState = new Map<string, string>();
    for (const state of ALL_STATES) byState.set(state, await world.inState(state));
    for (const state of ALL_STATES) expect(await idsOf({ states: [state] })).toEqual([byState.get(state)]);
    const ids = await idsOf({ states: ['failed', 'paused'] });
    expect(ids).toHaveLength(2);
    expect(new Set(ids)).toEqual(new Set([byState.get('failed'), byState.get('paused')]));
  });

  it('the list is filtered by equality of top-level strings of the metadata, all of them', async () => {
    const both = await world.start({ metadata: { depot: 'north-2', lane: 'a' } });
    await world.start({ metadata: { depot: 'north-2' } });
    await world.start({ metadata: { lane: 'a' } });
    const number = await world.start({ metadata: { depot: 5 } });
    expect(
      await idsOf({
        metadata: [
          ['depot', 'north-2'],
          ['lane', 'a'],
        ],
      }),
    ).toEqual([both]);
    expect(await idsOf({ metadata: [['depot', '5']] })).not.toContain(number);
    expect(await idsOf({ metadata: [['__proto__', 'x']] })).toEqual([]);
  });

  it('the frontier is the instance, its frames, inbox and open tasks at one instant', async () => {
    const { id, taskId } = await world.waitingForWorker();
    await world.advance(4);
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const frontier = await world.frontier(id);
    expect(frontier.instance).toEqual(await world.view(id));
    expect(frontier).toMatchObject({
      frames: [{ blockId: '', leaf: { taskId } }],
      inbox: [{ seq: 1 }],
      openTasks: [{ id: taskId, state: 'pending' }],
      now: await world.now(),
    });
    expect(await world.store.getFrontier('other', id)).toBeNull();
    expect(await world.store.getFrontier(null, nextId())).toBeNull();
  });

  it('lists of an unknown instance or of another tenant’s are null', async () => {
    const id = await world.start();
    const include = { node: false, retry: false };
    for (const [tenantId, instanceId] of [
      ['other', id],
      [null, nextId()],
    ] as const) {
      expect(await world.store.listOutputs(tenantId, instanceId, include)).toBeNull();
      expect(await world.store.listAudit(tenantId, instanceId, 10)).toBeNull();
      expect(await world.store.listLogs(tenantId, instanceId, 10)).toBeNull();
    }
    expect(await world.store.listOutputs(TENANT, id, include)).toEqual([]);
    expect(await world.store.listAudit(TENANT, id, 10)).toEqual([]);
    expect(await world.store.listLogs(TENANT, id, 10)).toEqual([]);
  });

  const gatesOf = (overrides: Partial<ListGatesQuery> = {}) =>
    world.store.listOpenGates({
      tenantId: null,
      namespace: null,
      instanceId: null,
      sequenceId: null,
      limit: 100,
      offset: 0,
      ...overrides,
    });

  /** An instance with one gate per block, settled as `state`. */
  async function asking(
    blockIds: readonly string[],
    state: 'waiting' | 'scheduled' | 'paused' = 'waiting',
    overrides: Parameters<typeof world.start>[0] = {},
  ): Promise<string> {
    const id = await world.start(overrides);
    const frames = blockIds.map((blockId) =>
      write(frame({ blockId, leaf: waitingLeaf('input', { gate: gate() }) })),
    );
    const dueAt = state === 'scheduled' ? (await world.now()) + 900_000 : null;
    const claim = await world.claim(id, { tenantId: overrides.tenantId ?? TENANT });
    await world.apply(
      turnOf(claim, {
        frames,
        audit: [auditEntry('running', state)],
        settle: settleAs(state, { dueAt, nextFireAt: dueAt, openWaits: blockIds.length }),
      }),
    );
    return id;
  }

  it('open gates are listed newest instance first, each with its frame and sequence name', async () => {
    const published = sequence();
    await world.store.insertSequence(published);
    const older = await asking(['ask'], 'waiting', { sequenceId: published.id });
    await world.advance(1);
    const newer = await asking(['left', 'right'], 'scheduled');
    const { items, total } = await gatesOf();
    expect(total).toBe(3);
    expect(items.map(({ instance }) => instance.id)).toEqual([newer, newer, older]);
    expect(
      items
        .slice(0, 2)
        .map((item) => item.frame.blockId)
        .sort(),
    ).toEqual(['left', 'right']);
    expect(items[2]).toMatchObject({
      sequenceName: published.name,
      frame: { blockId: 'ask', leaf: { gate: gate() } },
      instance: await world.view(older),
    });
    const page = await gatesOf({ limit: 1, offset: 2 });
    expect(page.total).toBe(3);
    expect(page.items.map(({ instance }) => instance.id)).toEqual([older]);
  });

  it('gates are listed by what times out next, those without a time-out last (dashboard.md A15)', async () => {
    const openAt = (openedAt: number, timeoutMs: number | null) => gate({ openedAt, timeoutMs });
    const gates = [openAt(1_000, 9_000), openAt(2_000, null), openAt(5_000, 1_000), openAt(3_000, null)];
    const ids: string[] = [];
    for (const open of gates) {
      const id = await world.start();
      const frames = [write(frame({ leaf: waitingLeaf('input', { gate: open }) }))];
      const audit = [auditEntry('running', 'waiting')];
      await world.apply(
        turnOf(await world.claim(id), { frames, audit, settle: settleAs('waiting', { openWaits: 1 }) }),
      );
      ids.push(id);
      await world.advance(1);
    }
    const inBranch = await asking(['left']);
    const listed = async (overrides: Partial<ListGatesQuery>): Promise<readonly string[]> =>
      (await gatesOf({ order: 'deadline', ...overrides })).items.map(({ instance }) => instance.id);
    const byDeadline = await listed({});
    expect(byDeadline.filter((id) => id !== inBranch)).toEqual([ids[2], ids[0], ids[3], ids[1]]);
    expect(byDeadline).toContain(inBranch);
    expect(await listed({ limit: 1 })).toEqual([byDeadline[0]]);
    expect(await listed({ offset: 4 })).toEqual([byDeadline[4]]);
  });

  it('gates are filtered by tenant, namespace, instance and sequence', async () => {
    const sequenceId = nextId();
    const plain = await asking(['ask']);
    const other = await asking(['ask'], 'waiting', { tenantId: 'other', namespace: 'returns', sequenceId });
    const found = async (overrides: Partial<ListGatesQuery>): Promise<readonly string[]> =>
      (await gatesOf(overrides)).items.map(({ instance }) => instance.id);
    expect(await found({ tenantId: TENANT })).toEqual([plain]);
    expect(await found({ namespace: 'returns' })).toEqual([other]);
    expect(await found({ instanceId: plain })).toEqual([plain]);
    expect(await found({ sequenceId })).toEqual([other]);
    expect(await found({ tenantId: TENANT, sequenceId })).toEqual([]);
  });

  it('a gate that is answered, or whose instance is paused, running or over, is not listed', async () => {
    await asking(['ask'], 'paused');
    const id = await asking(['ask']);
    await world.apply(
      turnOf(await world.operate(id), {
        frames: [write(frame({ blockId: 'ask', leaf: leaf({ gate: gate() }) }))],
        instance: { state: 'running' },
      }),
    );
    const ended = await asking(['ask']);
    const audit = [auditEntry('waiting', 'cancelled')];
    await world.apply(turnOf(await world.operate(ended), { audit, settle: settleAs('cancelled') }));
    expect(await gatesOf()).toEqual({ items: [], total: 0 });
  });

  it('a ping answers the database time and the schema version', async () => {
    const { now, schemaVersion } = await world.store.ping();
    expect(schemaVersion).toBeGreaterThanOrEqual(1);
    await world.advance(250);
    expect((await world.store.ping()).now).toBe(now + 250);
  });
}
