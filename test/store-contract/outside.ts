import { expect, it } from 'vitest';
import type { Emit, OutgoingSignal } from '../../src/core/run/outside.ts';
import {
  TENANT,
  auditEntry,
  frame,
  leaf,
  nextId,
  row,
  sequence,
  settleAs,
  turnOf,
} from '../support/turn-builder.ts';
import { NOTHING } from './events.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { expectRejected, useWorld } from './world.ts';

const THIRTY_DAYS_MS = 30 * 24 * 60 * 60 * 1000;

export function describeOutside(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const signalTo = (instanceId: string, overrides: Partial<OutgoingSignal> = {}): OutgoingSignal => ({
    instanceId,
    signalId: nextId(),
    signalType: 'custom:go',
    payload: { n: 1 },
    ...overrides,
  });
  const sequenceToStart = async (): Promise<string> => {
    const record = sequence({ name: `target-${nextId()}` });
    await world.store.insertSequence(record);
    return record.id;
  };
  const emitOf = (sequenceId: string, overrides: Partial<Emit> = {}): Emit => ({
    instanceId: nextId(),
    runId: nextId(),
    namespace: 'fulfilment',
    sequenceId,
    sequenceName: 'target',
    data: { order: 1 },
    metadata: { _trigger: 'orders' },
    dedupe: null,
    ...overrides,
  });
  /** A commit of a fresh instance, with a result beside. */
  const commitWith = async (outside: Partial<typeof NOTHING>) => {
    const id = await world.start();
    const claim = await world.claim(id);
    const verdict = await world.commit(turnOf(claim, { rows: [row()], outside: { ...NOTHING, ...outside } }));
    return { id, claim, verdict };
  };

  it('a signal goes out with the result and wakes its target [H-5]', async () => {
    const target = await world.inState('waiting');
    const signal = signalTo(target);
    expect((await commitWith({ signals: [signal] })).verdict).toMatchObject({ verdict: 'ok', granted: true });
    expect((await world.frontier(target)).inbox).toMatchObject([
      { id: signal.signalId, fact: { kind: 'signal', signalType: 'custom:go', payload: { n: 1 } } },
    ]);
    expect(await world.view(target)).toMatchObject({ dueAt: await world.now() });
  });

  it('a target that has ended, is not there or is of another tenant refuses the whole commit', async () => {
    const targets = [await world.inState('completed'), nextId(), await world.start({ tenantId: 'other' })];
    for (const target of targets) {
      const running = await world.inState('waiting');
      const { id, verdict } = await commitWith({ signals: [signalTo(running), signalTo(target)] });
      expect(verdict).toEqual({ verdict: 'refused' });
      expect(await world.store.listOutputs(null, id, { node: true, retry: true })).toEqual([]);
      expect((await world.frontier(running)).inbox).toEqual([]);
      expect(await world.view(id)).toMatchObject({ rev: 0 });
    }
  });

  it('the same signal id twice is one signal, also when the target has ended since', async () => {
    const target = await world.start();
    const signal = signalTo(target);
    await commitWith({ signals: [signal] });
    expect((await commitWith({ signals: [signal] })).verdict).toMatchObject({ verdict: 'ok' });
    expect((await world.frontier(target)).inbox).toHaveLength(1);
    const claim = await world.claim(target);
    const inboxDone = claim.inbox.map(({ seq }) => ({ seq, disposition: 'no_effect' as const }));
    await world.apply(
      turnOf(claim, {
        inboxDone,
        audit: [auditEntry('running', 'completed')],
        settle: settleAs('completed'),
      }),
    );
    expect((await commitWith({ signals: [signal] })).verdict).toMatchObject({ verdict: 'ok' });
  });

  it('a signal to itself comes before the next leaf: the intent is not granted, the signal is handed out', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    const signal = signalTo(id);
    const verdict = await world.apply(
      turnOf(claim, {
        rows: [row()],
        frames: [
          { frame: frame({ cursor: 1 }), intent: frame({ cursor: 1, leaf: leaf({ dispatchedAt: 5 }) }) },
        ],
        outside: { ...NOTHING, signals: [signal] },
      }),
    );
    expect(verdict).toMatchObject({ granted: false, inbox: [{ id: signal.signalId, seq: 1 }] });
    expect((await world.frontier(id)).frames).toMatchObject([{ cursor: 1, leaf: null }]);
  });

  it('a signal to itself is refused together with the end of the run, and keeps a settled run due', async () => {
    const ending = await world.claim(await world.start());
    const audit = [auditEntry('running', 'completed')];
    const own = (claim: typeof ending) => ({ ...NOTHING, signals: [signalTo(claim.instanceId)] });
    const ended = turnOf(ending, { audit, settle: settleAs('completed'), outside: own(ending) });
    expect(await world.commit(ended)).toEqual({ verdict: 'refused' });
    const resting = await world.claim(await world.start());
    await world.apply(turnOf(resting, { settle: settleAs('paused'), outside: own(resting) }));
    expect(await world.view(resting.instanceId)).toMatchObject({ state: 'paused', dueAt: await world.now() });
  });

  it('a commit whose answer was lost is not done again (RULINGS A8)', async () => {
    const target = await world.start();
    const claim = await world.claim(await world.start());
    const emit = emitOf(await sequenceToStart(), { dedupe: { scope: '', key: 'k' } });
    const outside = { ...NOTHING, signals: [signalTo(target)], emits: [emit] };
    const turn = turnOf(claim, { rows: [row()], outside });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'ok' });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'already' });
    expect((await world.frontier(target)).inbox).toHaveLength(1);
  });

  it('a turn that reaches beyond its instance goes alone (RULINGS A15)', async () => {
    const [one, other] = [await world.claim(await world.start()), await world.claim(await world.start())];
    const reaching = turnOf(one, { outside: { ...NOTHING, signals: [signalTo(other.instanceId)] } });
    await expectRejected(world.store.commit([reaching, turnOf(other)]));
    expect(await world.view(one.instanceId)).toMatchObject({ rev: 0 });
  });

  it('an emitted instance hangs on nobody, is due at once and keeps its start input [EMIT-1]', async () => {
    const emit = emitOf(await sequenceToStart());
    const { id } = await commitWith({ emits: [emit] });
    expect(await world.view(emit.instanceId)).toMatchObject({
      state: 'scheduled',
      tenantId: TENANT,
      parent: null,
      depth: 0,
      data: { order: 1 },
      metadata: { _trigger: 'orders' },
      dueAt: await world.now(),
    });
    expect(await world.store.listChildren(null, id)).toEqual([]);
  });

  it('a dedupe key starts one instance within 30 days [EMIT-2]', async () => {
    const sequenceId = await sequenceToStart();
    const key = { scope: '', key: 'k-1' };
    const [first, second] = [emitOf(sequenceId, { dedupe: key }), emitOf(sequenceId, { dedupe: key })];
    await commitWith({ emits: [first] });
    const known = { instanceId: first.instanceId, sequenceName: 'target' };
    expect(await world.store.emitRecord(TENANT, key)).toEqual(known);
    expect(await world.store.emitRecord('other', key)).toBeNull();
    expect(await world.store.emitRecord(TENANT, { scope: nextId(), key: 'k-1' })).toBeNull();
    expect((await commitWith({ emits: [second] })).verdict).toEqual({ verdict: 'refused' });
    await world.advance(THIRTY_DAYS_MS);
    expect(await world.store.emitRecord(TENANT, key)).toBeNull();
    expect((await commitWith({ emits: [second] })).verdict).toMatchObject({ verdict: 'ok' });
    expect(await world.store.emitRecord(TENANT, key)).toMatchObject({ instanceId: second.instanceId });
  });

  it('an emit whose sequence has been deleted refuses the commit', async () => {
    const sequenceId = await sequenceToStart();
    await world.store.deleteSequence(TENANT, sequenceId);
    expect((await commitWith({ emits: [emitOf(sequenceId)] })).verdict).toEqual({ verdict: 'refused' });
  });

  it('records of dedupe keys are removed when their time is over', async () => {
    const dedupe = { scope: '', key: 'k-2' };
    await commitWith({ emits: [emitOf(await sequenceToStart(), { dedupe })] });
    await world.advance(THIRTY_DAYS_MS - 1);
    expect(await removeExpired(world, 10)).toBe(0);
    await world.advance(1);
    expect(await removeExpired(world, 10)).toBe(1);
  });

  it('an artifact is kept for its instance and tenant, the last bytes count', async () => {
    const key = { tenantId: TENANT, instanceId: await world.start() };
    const blob = {
      artifactId: 'a-1',
      contentType: 'text/plain',
      size: 3,
      sha256: 'ab',
      bytes: new Uint8Array([0, 255, 7]),
    };
    await world.store.putBlob(key, { ...blob, bytes: new Uint8Array([1]), size: 1 });
    await world.store.putBlob(key, blob);
    const { artifactId: _, ...shown } = blob;
    expect(await world.store.getBlob(key, 'a-1', 3)).toEqual(shown);
    expect(await world.store.getBlob(key, 'a-1', 2)).toEqual({ ...shown, bytes: null });
    expect(await world.store.getBlob(key, 'a-2', 9)).toBeNull();
    expect(await world.store.getBlob({ ...key, tenantId: 'other' }, 'a-1', 9)).toBeNull();
  });

  it('credentials are kept sealed by tenant and id', async () => {
    const credential = {
      id: 'rates',
      tenantId: TENANT,
      name: 'Rates',
      kind: 'api_key' as const,
      enabled: true,
      sealedValue: 'sealed-1',
      sealedRefreshToken: null,
      refreshUrl: null,
      expiresAt: 5_000,
      description: null,
    };
    expect(await world.store.insertCredential(credential)).toBe(true);
    expect(await world.store.insertCredential(credential)).toBe(false);
    expect(await world.store.insertCredential({ ...credential, tenantId: 'other' })).toBe(true);
    const at = await world.now();
    expect(await world.store.getCredential(TENANT, 'rates')).toEqual({
      ...credential,
      createdAt: at,
      updatedAt: at,
    });
    await world.advance(1000);
    const patch = { enabled: false, expiresAt: null, sealedValue: 'sealed-2' };
    const changed = { ...credential, ...patch, createdAt: at, updatedAt: at + 1000 };
    expect(await world.store.updateCredential(TENANT, 'rates', patch)).toEqual(changed);
    expect(await world.store.updateCredential(TENANT, 'nobody', patch)).toBeNull();
    expect((await world.store.listCredentials(null, 10)).map(({ tenantId }) => tenantId)).toEqual(
      ['other', TENANT].sort(),
    );
    expect(await world.store.listCredentials(TENANT, 10)).toEqual([changed]);
    expect(await world.store.deleteCredential(TENANT, 'rates')).toBe(true);
    expect(await world.store.deleteCredential(TENANT, 'rates')).toBe(false);
    expect(await world.store.getCredential('other', 'rates')).toMatchObject({ enabled: true });
  });
}
