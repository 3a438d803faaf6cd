import { describe, expect, it } from 'vitest';
import { loop, parallel, step, task } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byRun, cancelAt, fails, ok, retryAt } from './support/script.ts';

describe('idempotency keys of a retry', () => {
  it('calls what a cancel had cut short with the key it had, and what had failed with a new one (RULINGS B1) [IDEM-2]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [step('x', { cancellable: false })],
          [step('y')],
          [loop('l', [task('w')], { max_iterations: 1 })],
        ]),
      ],
      on: {
        x: byRun(fails('no', { takesMs: 200 }), ok()),
        y: byRun(ok(null, { takesMs: 900 }), ok()),
        w: byRun(ok(null, { takesMs: 900 }), ok()),
      },
      events: [cancelAt(100), retryAt(500)],
    });
    expect(run.state).toBe('completed');
    const keysOf = (blockId: string): readonly string[] =>
      run.calls.filter((call) => call.blockId === blockId).map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keysOf('x')).size).toBe(2);
    for (const blockId of ['y', 'w']) {
      expect(keysOf(blockId)).toHaveLength(2);
      expect(new Set(keysOf(blockId)).size).toBe(1);
    }
  });
});
