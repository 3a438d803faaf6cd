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
});
