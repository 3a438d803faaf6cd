import { expect, it } from 'vitest';
import { auditEntry, nextId, row, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { expectRejected, useWorld } from './world.ts';

export function describeAroundSteps(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a run has as many traces of signals as it has signals, and one of each attempt [INT-3] [INT-2]', async () => {
    const claim = await world.claim(await world.start());
    const trace = (blockId: string) => row({ blockId, kind: 'interceptor' });
    const signals = [trace('_interceptor:on_signal'), trace('_interceptor:on_signal')];
    await world.apply(turnOf(claim, { rows: [...signals, trace('_interceptor:before:a')] }));
    const again = turnOf(claim, { rows: [trace('_interceptor:before:a')], rev: 1 });
    await expectRejected(world.store.commit([again]));
  });

  it('frames keep which attempt is traced, what was alerted and whose outcome nobody knows [INT-2] [SLA-1]', async () => {
    const claim = await world.claim(await world.start());
    const base = {
      blockId: '',
      branch: null,
      iteration: '',
      cursor: 0,
      leaf: null,
      detail: { kind: 'root' as const },
    };
    const unknown = { blockId: 'a', keyRunId: nextId() };
    const noted = { traced: '1#0##a', alerted: { runNo: 1, blockIds: ['', 'a'] }, unknown };
    const root = { ...base, state: 'open' as const, startedAt: 5, ...noted };
    const inner = { ...root, blockId: 'l', iteration: '', detail: { kind: 'cancellation_scope' as const } };
    await world.apply(turnOf(claim, { frames: [root, inner].map((frame) => ({ frame, intent: null })) }));
    expect((await world.frontier(claim.instanceId)).frames).toMatchObject([root, inner]);
  });

  it('queues webhooks with the commit that tells of them, and reads the journal newest first [SLA-1] [AUD-2]', async () => {
    const claim = await world.claim(await world.start());
    const id = nextId();
    const url = 'https://hooks.example.com/a';
    const webhooks = [{ id, eventType: 'instance.sla_breached' as const, url, payload: { event_type: 'x' } }];
    const journal = [
      { id: nextId(), kind: 'retry', details: { run_no: 1 } },
      { id: nextId(), kind: 'sla_breach', details: {} },
    ];
    await world.apply(turnOf(claim, { webhooks, journal }));
    expect(await world.store.listWebhookOutbox(null, 'pending', 10)).toMatchObject([
      {
        id,
        instanceId: claim.instanceId,
        eventType: 'instance.sla_breached',
        payload: { event_type: 'x' },
        status: 'pending',
      },
    ]);
    expect(await world.store.listWebhookOutbox('nobody', 'pending', 10)).toEqual([]);
    const entries = await world.store.listJournal(null, claim.instanceId, 10);
    expect(entries?.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['sla_breach', null],
      ['retry', null],
    ]);
    expect(await world.store.listJournal('nobody', claim.instanceId, 10)).toBeNull();
    expect(await world.store.listJournal(null, claim.instanceId, 1)).toHaveLength(1);
  });

  it('the journal says of signals behind a cancel that they expired [SIG-8] [SIG-9] [AUD-2]', async () => {
    const id = await world.start();
    const taken = await world.operate(id);
    const signalId = nextId();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId,
      signalType: 'pause',
      payload: null,
    });
    await world.apply(
      turnOf(taken, { audit: [auditEntry('scheduled', 'cancelled')], settle: settleAs('cancelled') }),
    );
    expect(await world.store.listJournal(null, id, 10)).toMatchObject([
      { kind: 'signal', details: { signal_id: signalId, signal_type: 'pause', disposition: 'expired' } },
    ]);
  });
}
