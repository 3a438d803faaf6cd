import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineHandler, sequence, StepError } from '../../src/sdk/index.ts';
import { createTestEngine } from '../../src/sdk/testing.ts';

const charge = defineHandler(
  'charge',
  { input: z.object({ cents: z.number().int().positive() }) },
  async ({ cents }, ctx) => ({ receipt: `${cents}/${ctx.attempt}` }),
);

const order = sequence({
  name: 'order',
  blocks: [
    { type: 'step', id: 'pay', handler: 'charge', params: { cents: '{{data.cents}}' } },
    {
      type: 'step',
      id: 'approve',
      handler: 'noop',
      wait_for_input: { prompt: 'Ship {{outputs.pay.receipt}}?', timeout: 86_400_000 },
    },
    { type: 'step', id: 'ship', handler: 'transform', params: { shipped: '{{outputs.pay.receipt}}' } },
  ],
});

describe('the test kit', () => {
  it('runs a sequence with handlers and gates to its end', async () => {
    const engine = createTestEngine({ handlers: [charge] });
    const run = await engine.run(order, { cents: 1200 });
    await run.assertState('waiting');
    await run.assertOutput('pay', { receipt: '1200/0' });
    await run.answer('approve', 'yes');
    await run.assertState('completed');
    await run.assertOutput('ship', { shipped: '1200/0' });
  });

  it('says why an instance is in another state than was expected', async () => {
    const engine = createTestEngine({ handlers: [charge] });
    const run = await engine.run(order, { cents: -1 });
    await expect(run.assertState('completed')).rejects.toThrow(
      /^the instance is failed, not completed: [\s\S]*pay: failed .*INVALID_PARAMS/,
    );
    await expect(run.assertOutput('ship', {})).rejects.toThrow(/^ship has no output: /);
    await expect(run.answer('approve', 'yes')).rejects.toThrow(/^no gate waits at approve: /);
  });

  it('moves time to retries, delays and timeouts, each at its instant', async () => {
    const times: string[] = [];
    const flaky = defineHandler('flaky', {}, (_input, ctx) => {
      times.push(new Date(ctx.nowMs).toISOString());
      if (ctx.attempt < 2) throw new StepError('busy');
      return null;
    });
    const engine = createTestEngine({ handlers: [flaky], startAt: '2027-03-01T10:00:00Z' });
    const run = await engine.run({
      name: 'retries',
      blocks: [
        {
          type: 'step',
          id: 'try',
          handler: 'flaky',
          retry: { max_attempts: 3, initial_backoff: 1000, max_backoff: 60_000 },
        },
        { type: 'step', id: 'later', handler: 'flaky', delay: { duration: 30 * 86_400_000 } },
      ],
    });
    expect(times).toEqual(['2027-03-01T10:00:00.000Z']);
    await engine.advance(60_000);
    expect(times).toHaveLength(3);
    await engine.advance(29 * 86_400_000);
    await run.assertState('scheduled');
    expect(await run.finish()).toBe('failed');
    expect(engine.now().toISOString()).toMatch(/^2027-03-31T10:00:0/);
  });

  it('waits for handlers that really take time, side by side too', async () => {
    const read = defineHandler(
      'read',
      {},
      async () => JSON.parse(await readFile('package.json', 'utf8')).name,
    );
    const branch = (id: string) => [{ type: 'step', id, handler: 'read' } as const];
    const engine = createTestEngine({ handlers: [read] });
    const run = await engine.run({
      name: 'files',
      blocks: [{ type: 'parallel', id: 'both', branches: [branch('a'), branch('b')] }],
    });
    await run.assertState('completed');
    expect(await run.outputs()).toEqual({ a: 'stepwell', b: 'stepwell' });
    expect(engine.now().toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  it('gives a handler that hangs its timeout when it is told not to wait', async () => {
    const hang = defineHandler('hang', { timeout: 5000 }, () => new Promise(() => undefined));
    const engine = createTestEngine({ handlers: [hang] });
    await engine.publish({ name: 'h', blocks: [{ type: 'step', id: 'a', handler: 'hang' }] });
    const { id } = await engine.client.instances.start({ sequence_name: 'h' });
    await engine.advance(4999, { waitForHandlers: false });
    await engine.instance(id).assertState('running');
    await engine.advance(1, { waitForHandlers: false });
    await engine.instance(id).assertState('failed');
    expect((await engine.instance(id).tree())[0]?.error).toMatchObject({ code: 'TIMEOUT' });
  });

  it('answers http_request from a function, and has no network without', async () => {
    const blocks = [
      {
        type: 'step',
        id: 'call',
        handler: 'http_request',
        params: {
          url: 'https://pay.example/charges',
          method: 'POST',
          json: { cents: 5 },
          response_as: 'json',
        },
      },
    ] as const;
    const calls: string[] = [];
    const engine = createTestEngine({
      http: async (request) => {
        calls.push(`${request.method} ${request.url} ${await request.text()}`);
        return Response.json({ receipt: request.headers.has('idempotency-key') });
      },
    });
    const run = await engine.run({ name: 'pay', blocks });
    expect(calls).toEqual(['POST https://pay.example/charges {"cents":5}']);
    expect(await run.outputs()).toMatchObject({ call: { status: 200, body: { receipt: true } } });
    const offline = await createTestEngine().run({ name: 'pay', blocks });
    await expect(offline.assertState('completed')).rejects.toThrow('give createTestEngine an http function');
    const broken = createTestEngine({ http: () => Promise.reject(new Error('cable cut')) });
    await expect((await broken.run({ name: 'pay', blocks })).assertState('completed')).rejects.toThrow(
      'cable cut',
    );
  });

  it('lets a test do the tasks of workers by hand', async () => {
    const engine = createTestEngine();
    const step = { type: 'step', handler: 'weigh' } as const;
    const run = await engine.run(
      {
        name: 'parcel',
        blocks: [
          { ...step, id: 'first', params: { no: '{{data.no}}' } },
          { ...step, id: 'second' },
        ],
      },
      { no: 7 },
    );
    const first = await engine.takeTask('weigh');
    expect(first?.task).toMatchObject({ block_id: 'first', params: { no: 7 } });
    expect(await engine.takeTask('weigh')).toBeNull();
    await first?.complete({ kg: 3 });
    await (await engine.takeTask('weigh'))?.fail({ message: 'broken scales', code: 'SCALES' });
    await run.assertState('failed');
    await run.assertOutput('first', { kg: 3 });
  });

  it('follows children, and finishes with what does not depend on time', async () => {
    const engine = createTestEngine({ tenant: 'saltmarsh' });
    await engine.publish({
      name: 'inner',
      blocks: [{ type: 'step', id: 'rest', handler: 'sleep', params: { duration_ms: 90_000 } }],
    });
    const run = await engine.run({
      name: 'outer',
      blocks: [
        { type: 'sub_sequence', id: 'child', sequence_name: 'inner' },
        { type: 'step', id: 'ask', handler: 'noop', wait_for_input: { prompt: 'Well?' } },
      ],
    });
    expect(await run.finish()).toBe('waiting');
    expect(engine.now().toISOString()).toBe('2026-01-01T00:01:30.000Z');
    const [child] = await engine.client.instances.children(run.id);
    await engine.instance(child?.id ?? '').assertState('completed');
    await expect(run.answer('ask', 'maybe')).rejects.toThrow('ask takes yes or no, not maybe');
    await run.answer('ask', { value: 'no', comment: 'never' });
    await run.assertState('completed');
    expect(await run.instance()).toMatchObject({ tenant_id: 'saltmarsh', context: { data: { ask: 'no' } } });
  });

  it('moves to an instant, and sends signals', async () => {
    const engine = createTestEngine({ startAt: '2027-05-03T06:00:00Z' });
    const run = await engine.run({
      name: 'campaign',
      blocks: [
        {
          type: 'step',
          id: 'mail',
          handler: 'log',
          params: { message: 'now' },
          delay: { duration: 10_800_000 },
        },
        { type: 'step', id: 'later', handler: 'noop', delay: { duration: 3_600_000 } },
      ],
    });
    await engine.advanceTo('2027-05-03T08:59:59Z');
    expect(await run.outputs()).toEqual({});
    await engine.advanceTo('2027-05-03T09:00:00Z');
    expect(Object.keys(await run.outputs())).toEqual(['mail']);
    await run.signal('cancel');
    await run.assertState('cancelled');
    await expect(engine.advanceTo('tomorrow')).rejects.toThrow('not an instant: tomorrow');
  });

  it('runs the same each time, and differs with the seed', async () => {
    const roll = async (seed: number) => {
      const engine = createTestEngine({ seed });
      const variant = (name: string) =>
        ({ name, weight: 1, blocks: [{ type: 'step', id: name, handler: 'noop' }] }) as const;
      const names = ['a', 'b', 'c', 'd'];
      const run = await engine.run({
        name: 'split',
        blocks: [{ type: 'a_b_split', id: 'ab', variants: names.map(variant) }],
      });
      return [run.id, ...Object.keys(await run.outputs())].join();
    };
    const [first, again, other] = [await roll(1), await roll(1), await roll(2)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('refuses handlers that cannot be registered, and shows what the API refuses', async () => {
    expect(() => createTestEngine({ handlers: [charge, charge] })).toThrow('charge is registered twice');
    expect(() => createTestEngine({ startAt: 'soon' })).toThrow('not an instant: soon');
    await expect(createTestEngine().start('nothing')).rejects.toMatchObject({ status: 404 });
  });
});
