import { beforeEach, describe, expect, it } from 'vitest';
import { frame, leaf, nextId, settleAs, waitingLeaf, write } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture } from './support/api-fixture.ts';
import { published, startBody, started } from './support/documents.ts';
import { ended, takeTurn, waitingForAnswer, waitingForWorker } from './support/seeded-runs.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const explain = async (id: string) => (await api.call('GET', `/instances/${id}/explain`)).body;
const NOW = '2027-02-11T08:00:00.000Z';

describe('GET /instances/{id}/explain', () => {
  it('says that a fresh instance waits for a turn', async () => {
    const id = await started(api);
    expect(await explain(id)).toEqual({
      instance_id: id,
      state: 'scheduled',
      summary: `The instance is due and waits for a turn since ${NOW}; a turn looks at it at ${NOW}.`,
      observed_at: NOW,
      waiting_on: [
        {
          kind: 'due',
          block_id: null,
          iteration: '',
          since: NOW,
          until: null,
          detail: 'is due and waits for a turn',
        },
      ],
      lease: null,
      next: { action: 'claim', at: NOW },
      inbox_pending: 0,
      unheard_signals: [],
      claims: { count: 0, take_overs_in_row: 0 },
    });
  });

  it('says when an instance starts that is not due', async () => {
    const id = await started(api, { next_fire_at: '2027-03-01T00:00:00Z' });
    const { waiting_on: waits, next, summary } = await explain(id);
    expect(waits).toMatchObject([{ kind: 'timer', until: '2027-03-01T00:00:00.000Z' }]);
    expect(next).toEqual({ action: 'claim', at: '2027-03-01T00:00:00.000Z' });
    expect(summary).toContain('2027-03-01');
  });

  it('names the holder of the lease, also after it has expired', async () => {
    const id = await started(api);
    const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: 60_000 };
    const tenantId = (await api.store.getInstance(null, id))?.tenantId ?? '';
    await api.store.claimOne({ tenantId, instanceId: id, mode: 'hint', ...lease });
    expect(await explain(id)).toMatchObject({
      state: 'running',
      lease: { owner: 'process-a', until: '2027-02-11T08:01:00.000Z', expired: false },
      summary: expect.stringMatching(/^Block 'first' is being worked on since/),
      waiting_on: [{ kind: 'lease', block_id: 'first', detail: 'is being worked on' }],
      next: { action: 'turn', at: '2027-02-11T08:01:00.000Z' },
      claims: { count: 1 },
    });
    api.clock.now += 61_000;
    expect(await explain(id)).toMatchObject({ lease: { expired: true }, next: { action: 'take_over' } });
  });

  it('names the first steps of all branches while a turn works on them, and what was due when it came', async () => {
    const step = (id: string) => ({ type: 'step', id, handler: 'noop' });
    const branches = [
      [{ type: 'try_catch', id: 't', try_block: [step('a')], catch_block: [] }],
      [step('b'), step('c')],
    ];
    const sequenceId = await published(api, { blocks: [{ type: 'parallel', id: 'p', branches }] });
    const begun = await api.call('POST', '/instances', { body: startBody(sequenceId) });
    const hold = async (instanceId: string) => {
      const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: 60_000 };
      const tenantId = (await api.store.getInstance(null, instanceId))?.tenantId ?? '';
      await api.store.claimOne({ tenantId, instanceId, mode: 'hint', ...lease });
      const { waiting_on: waits } = await explain(instanceId);
      return waits.map((wait: Body) => `${wait.kind} ${wait.block_id} ${wait.detail}`);
    };
    expect(await hold(begun.body.id)).toEqual(['lease a is being worked on', 'lease b is being worked on']);
    const delayed = await started(api);
    await takeTurn(api, delayed, {
      frames: [
        write(frame({ leaf: { ...waitingLeaf('child'), reason: 'delay', wakeAt: api.clock.now + 1000 } })),
      ],
      settle: settleAs('scheduled', { dueAt: api.clock.now + 1000 }),
    });
    api.clock.now += 1000;
    expect(await hold(delayed)).toEqual(['lease first is being worked on']);
  });

  it('names the gate, its choices and its end', async () => {
    const id = await waitingForAnswer(api);
    const { waiting_on: waits, next, summary } = await explain(id);
    expect(waits).toEqual([
      {
        kind: 'gate',
        block_id: 'first',
        iteration: '',
        since: NOW,
        until: '2027-02-11T09:00:00.000Z',
        detail: 'waits for one of the answers yes, no',
      },
    ]);
    expect(next).toEqual({ action: 'claim', at: '2027-02-11T09:00:00.000Z' });
    expect(summary).toMatch(
      /^Block 'first' waits for one of the answers yes, no until 2027-02-11T09:00:00.000Z/,
    );
  });

  it('names the handler that a worker must serve, then the worker', async () => {
    const { id } = await waitingForWorker(api);
    expect(await explain(id)).toMatchObject({
      waiting_on: [
        { kind: 'task', block_id: 'first', detail: "waits for a worker that serves 'parcel_lookup'" },
      ],
      next: { action: 'fact', at: null },
    });
    await api.call('POST', '/workers/tasks/poll', {
      body: { handler_name: 'parcel_lookup', worker_id: 'w-1' },
    });
    expect((await explain(id)).waiting_on[0].detail).toBe('waits for worker w-1, which claimed it');
  });

  it('counts facts that no turn has processed', async () => {
    const { id } = await waitingForWorker(api);
    await api.call('POST', `/instances/${id}/signals`, { body: { signal_type: 'custom:x' } });
    expect(await explain(id)).toMatchObject({ inbox_pending: 1, next: { action: 'claim' } });
  });

  it('names accepted signals that nothing waits for, with the gate that may be meant', async () => {
    const asking = { type: 'step', id: 'first', handler: 'noop', wait_for_input: {} };
    const sequenceId = await published(api, {
      blocks: [asking, { ...asking, id: 'pay', on_uncertain: 'ask' }],
    });
    const begun = await api.call('POST', '/instances', { body: startBody(sequenceId) });
    const { id } = begun.body;
    for (const name of ['human_input:frist', 'human_input:first', 'human_input:pay', 'first', 'other']) {
      const body = { signal_type: { custom: name }, payload: { value: 'yes' } };
      await api.call('POST', `/instances/${id}/signals`, { body });
      api.clock.now += 1000;
    }
    await api.call('POST', `/instances/${id}/signals`, { body: { signal_type: 'pause' } });
    const { unheard_signals: unheard } = await explain(id);
    expect(unheard.map((signal: Body) => [signal.name, signal.detail])).toEqual([
      ['other', 'nothing waits for a signal of this name'],
      ['first', "nothing waits for a signal of this name; did you mean 'human_input:first'?"],
      [
        'human_input:frist',
        "there is no block 'frist', so nothing waits for it; did you mean 'human_input:first'?",
      ],
    ]);
    expect(unheard[2].accepted_at).toBe(NOW);
  });

  it('says what is wrong with answers that no gate takes, with its choices [HI-3]', async () => {
    const choices = [
      { label: 'Pay', value: 'pay' },
      { label: 'Refuse', value: 'refuse' },
    ];
    const asking = { type: 'step', id: 'first', handler: 'noop', wait_for_input: { choices } };
    const lost = { type: 'step', id: 'call', handler: 'noop', on_uncertain: 'ask' };
    const sequenceId = await published(api, { blocks: [asking, lost] });
    const { id } = (await api.call('POST', '/instances', { body: startBody(sequenceId) })).body;
    const answers: readonly (readonly [string, Body])[] = [
      ['first', { value: 'pya' }],
      ['first', { valeu: 'pay' }],
      ['first', { value: 'pay' }],
      ['call', 'done'],
      ['call', { value: 'done' }],
    ];
    for (const [block, payload] of answers) {
      const body = { signal_type: { custom: `human_input:${block}` }, payload };
      await api.call('POST', `/instances/${id}/signals`, { body });
    }
    const { unheard_signals: unheard } = await explain(id);
    expect(unheard.map((signal: Body) => signal.detail)).toEqual([
      "'call' takes no such answer: its payload was no object with a 'value' of done, not_done, failed",
      "'first' takes no such answer: its payload had no 'value'; it may be pay, refuse",
      "'first' takes no such answer: its 'value' was none of pay, refuse",
    ]);
  });

  it('names the cause of a retry by its first line, without what looks like a secret', async () => {
    const id = await started(api);
    const wakeAt = api.clock.now + 5000;
    const message = '503 from pay with sk_live_abc123\n    at call (file.ts:1)';
    const failed = leaf({ state: 'waiting', reason: 'retry', wakeAt, attempt: 1 });
    await takeTurn(api, id, {
      frames: [write(frame({ leaf: { ...failed, error: { message, retryable: true } } }))],
      settle: settleAs('scheduled', { dueAt: wakeAt, nextFireAt: wakeAt }),
    });
    const detail = 'waits for try 2 after a failure: 503 from pay with [REDACTED]';
    const explained = await explain(id);
    expect(explained.waiting_on).toMatchObject([{ kind: 'timer', block_id: 'first', detail }]);
    expect(explained.summary).toContain(detail);
  });

  it.each([
    ['delay', 'timer', 'waits for its delay'],
    ['retry', 'timer', 'waits for try 3 after a failure'],
    ['sleep', 'timer', 'sleeps'],
    ['child', 'child', 'waits for the instance child-id'],
    ['event', 'event', 'waits for an event'],
  ] as const)('explains the reason %s', async (reason, kind, detail) => {
    const id = await started(api);
    const wakeAt = api.clock.now + 5000;
    const waiting = { wakeAt, attempt: 2, childId: 'child-id', startedAt: api.clock.now };
    const open = reason === 'child' || reason === 'event';
    const parked = open ? waitingLeaf(reason, waiting) : leaf({ ...waiting, state: 'waiting', reason });
    await takeTurn(api, id, {
      frames: [write(frame({ leaf: parked }))],
      settle: open
        ? settleAs('waiting', { openWaits: 1 })
        : settleAs('scheduled', { dueAt: wakeAt, nextFireAt: wakeAt }),
    });
    const explained = await explain(id);
    expect(explained.waiting_on).toMatchObject([{ kind, block_id: 'first', detail }]);
    expect(explained.summary).toContain(detail);
  });

  it('names the block of a loop that waits between its passes', async () => {
    const blocks = [
      { type: 'loop', id: 'poll', condition: 'true', body: [{ type: 'step', id: 'in', handler: 'noop' }] },
    ];
    const sequenceId = await published(api, { name: 'polling', blocks });
    const { id } = (await api.call('POST', '/instances', { body: startBody(sequenceId) })).body;
    const pollUntil = api.clock.now + 30_000;
    const detail = { kind: 'loop', passes: 1, inPass: false, pollUntil } as const;
    await takeTurn(api, id, {
      frames: [write(frame()), write(frame({ blockId: 'poll', detail }))],
      settle: settleAs('scheduled', { dueAt: pollUntil, nextFireAt: pollUntil }),
    });
    expect((await explain(id)).waiting_on).toMatchObject([
      { kind: 'timer', block_id: 'poll', until: '2027-02-11T08:00:30.000Z' },
    ]);
  });

  it('says that a paused instance waits for a person', async () => {
    const id = await started(api);
    await takeTurn(api, id, {
      instance: { metadata: { paused_reason: 'budget_exceeded' } },
      settle: settleAs('paused'),
    });
    expect(await explain(id)).toMatchObject({
      state: 'paused',
      waiting_on: [{ kind: 'pause', detail: 'is paused (budget_exceeded)' }],
      next: { action: 'resume', at: null },
    });
  });

  it('says how an ended instance ended', async () => {
    const failed = await explain(await ended(api, 'failed'));
    expect(failed).toMatchObject({ waiting_on: [], lease: null, next: null });
    expect(failed.summary).toBe(`The instance ended: failed in 'first' at ${NOW} (upstream answered 503).`);
    expect((await explain(await ended(api, 'cancelled'))).summary).toBe(
      `The instance ended: cancelled at ${NOW}.`,
    );
  });
});
