import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { HttpEffects, OutboundRequest, OutboundResult } from '../../src/ports/effects.ts';
import { step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { TestEngine } from './support/test-engine.ts';

const URL_OF_DESK = 'https://desk.example/hooks/review';
const GATE = { wait_for_input: { prompt: 'Refund?', allow_comment: true } };
const CHOICES = [
  { label: 'Yes', value: 'yes' },
  { label: 'No', value: 'no' },
];

/** What was sent, and what the other side answers. */
class Desk implements HttpEffects {
  readonly requests: OutboundRequest[] = [];
  answer: OutboundResult = { ok: true, status: 204, headers: [], body: new Uint8Array() };
  onRequest: () => Promise<void> = () => Promise.resolve();

  async send(request: OutboundRequest): Promise<OutboundResult> {
    this.requests.push(request);
    await this.onRequest();
    return this.answer;
  }

  get bodies(): readonly Json[] {
    return this.requests.map(({ body }) => JSON.parse(String(body)) as Json);
  }
}

async function booted(): Promise<{ readonly world: TestEngine; readonly desk: Desk }> {
  const desk = new Desk();
  const world = new TestEngine({ effects: desk });
  world.boot();
  await world.time.calm();
  return { world, desk };
}

const review = (params: JsonObject, members: JsonObject = GATE): JsonObject =>
  step('review', 'human_review', { params, ...members });

describe('human_review (handlers.md 7)', () => {
  it('tells the desk when the gate opens and shows what was asked in its result [HR-1] [HR-2]', async () => {
    const { world, desk } = await booted();
    const params = {
      review_data: { amount: '{{ data.amount }}' },
      instructions: 'Look at the photo',
      reviewer: 'desk-2',
      notify_url: URL_OF_DESK,
      notify_headers: { 'X-Desk': 2 },
    };
    const id = await world.start(await world.publish([review(params)]), { data: { amount: 12 } });
    let stateAtRequest = '';
    desk.onRequest = async () => {
      const frontier = await world.store.getFrontier(null, id);
      stateAtRequest = String(frontier?.frames[0]?.leaf?.reason);
    };
    await world.untilState(id, 'waiting');
    expect(stateAtRequest).toBe('input');
    expect(desk.requests).toMatchObject([{ method: 'POST', url: URL_OF_DESK, timeoutMs: 10_000 }]);
    expect(desk.requests[0]?.headers).toContainEqual(['X-Desk', '2']);
    const shown = { reviewer: 'desk-2', instructions: 'Look at the photo', review_data: { amount: 12 } };
    const where = { instance_id: id, block_id: 'review' };
    expect(desk.bodies).toEqual([{ type: 'human_review_pending', ...where, ...shown, choices: CHOICES }]);
    await world.signal(id, 'custom:human_input:review', { value: 'no', comment: 'broken' });
    await world.untilEnded(id, 1000);
    expect((await world.outputs(id))['review']).toEqual({
      type: 'human_review',
      status: 'pending',
      ...where,
      ...shown,
      choices: CHOICES,
      allow_comment: true,
    });
    expect(desk.requests).toHaveLength(1);
  });

  it('without a gate it tells the desk when it runs, without a URL nobody [HR-2]', async () => {
    const { world, desk } = await booted();
    const bare = await world.start(await world.publish([review({ notify_url: URL_OF_DESK }, {})]));
    await world.untilEnded(bare);
    expect(desk.bodies).toMatchObject([
      { reviewer: 'unassigned', instructions: '', review_data: null, choices: [] },
    ]);
    const quiet = await world.start(await world.publish([review({}, {})]));
    await world.untilEnded(quiet);
    expect((await world.outputs(quiet))['review']).toMatchObject({ choices: [], allow_comment: false });
    expect(desk.requests).toHaveLength(1);
  });

  it('each pass tells once [HR-2]', async () => {
    const { world, desk } = await booted();
    const body = [review({ notify_url: URL_OF_DESK })];
    const loop = { type: 'loop', id: 'rounds', condition: 'true', max_iterations: 2, body };
    const id = await world.start(await world.publish([loop]));
    for (const count of [1, 2]) {
      await world.untilState(id, 'waiting');
      expect(desk.requests).toHaveLength(count);
      await world.signal(id, 'custom:human_input:review', { value: 'yes' });
      await world.time.pass(1000);
    }
    await world.untilEnded(id);
    const keys = desk.requests.map(
      ({ headers }) => headers.find(([name]) => name === 'Idempotency-Key')?.[1],
    );
    expect(new Set(keys).size).toBe(2);
  });

  it.each<readonly [string, OutboundResult]>([
    ['refuses', { ok: true, status: 500, headers: [], body: new Uint8Array() }],
    ['does not answer', { ok: false, reason: 'timeout', message: 'too slow' }],
    ['is blocked after its name is resolved', { ok: false, reason: 'blocked', message: 'blocked' }],
  ])(
    'a desk that %s does not keep the gate from opening, and is not asked again [HR-2]',
    async (_, answer) => {
      const { world, desk } = await booted();
      desk.answer = answer;
      const id = await world.start(await world.publish([review({ notify_url: URL_OF_DESK })]));
      await world.untilState(id, 'waiting');
      await world.time.pass(120_000);
      expect(desk.requests).toHaveLength(1);
      expect((await world.store.getFrontier(null, id))?.frames[0]?.leaf?.gate).not.toHaveProperty('notify');
    },
  );

  it.each<readonly [string, JsonObject, string]>([
    ['a blocked URL', { notify_url: 'http://169.254.169.254/latest' }, 'BLOCKED_URL'],
    ['a URL with user info', { notify_url: 'https://a:b@desk.example/' }, 'BLOCKED_URL'],
    [
      'a header that cannot be sent',
      { notify_url: URL_OF_DESK, notify_headers: { a: 'x\r\ny' } },
      'INVALID_PARAMS',
    ],
  ])('%s fails the step before its gate opens [HR-2]', async (_, params, code) => {
    const { world, desk } = await booted();
    const id = await world.start(await world.publish([review(params)]));
    expect((await world.untilEnded(id)).failure?.error).toMatchObject({ code, retryable: false });
    expect(desk.requests).toEqual([]);
  });

  it('a dry run checks the URL and tells nobody [HR-3]', async () => {
    const { world, desk } = await booted();
    const good = await world.start(await world.publish([review({ notify_url: URL_OF_DESK })]), {
      dryRun: true,
    });
    await world.untilState(good, 'waiting');
    await world.signal(good, 'custom:human_input:review', { value: 'yes' });
    await world.untilEnded(good);
    expect((await world.outputs(good))['review']).toMatchObject({ type: 'human_review', status: 'pending' });
    const bad = await world.start(await world.publish([review({ notify_url: 'http://localhost/' })]), {
      dryRun: true,
    });
    expect((await world.untilEnded(bad)).failure?.error).toMatchObject({ code: 'BLOCKED_URL' });
    expect(desk.requests).toEqual([]);
  });

  it('a process that dies before it has told is replaced by one that tells, under the same key [HR-2]', async () => {
    const { world, desk } = await booted();
    const sequenceId = await world.publish([review({ notify_url: URL_OF_DESK })]);
    // The commit that opens the gate is the last thing the first process does.
    world.faults = faultAt('commit', 0, { kind: 'crash-after' });
    const id = await world.start(sequenceId);
    await world.time.pass(1000);
    expect(desk.requests).toEqual([]);
    world.boot();
    await world.untilState(id, 'waiting');
    expect(desk.requests).toHaveLength(1);
  });

  it('a person who answers while the desk is told is heard', async () => {
    const { world, desk } = await booted();
    const id = await world.start(
      await world.publish([review({ notify_url: URL_OF_DESK }), step('after', 'noop')]),
    );
    desk.onRequest = async () => void (await world.signal(id, 'custom:human_input:review', { value: 'yes' }));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed', data: { review: 'yes' } });
    expect(desk.requests).toHaveLength(1);
  });
});
