import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import { nextId } from '../support/turn-builder.ts';
import { forEach, loop, parallel, probing, retry, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const gaps = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((time, index) => time - (times[index] ?? 0));

const AROUND: ReadonlyArray<readonly [string, (block: JsonObject) => readonly JsonObject[]]> = [
  ['at the root', (block) => [block]],
  ['in a branch in an item', (block) => [forEach('e', [parallel('b', [block])])]],
];

/** Retries, time-outs and dead letters: scenarios C01 to C07, C13 and C15. */
export function describeRetry(stage: Stage): void {
  describe(`retries over ${stage.backend}`, () => {
    const run = (blocks: readonly JsonObject[]) => stage.run(blocks, { context: { data: { xs: [1] } } });

    it.each(AROUND)(
      'C01: three tries %s wait 100 and 150 ms, and the run is a dead letter',
      async (_, around) => {
        stage.probe.answer('p', { status: 503 });
        const id = await run(around(probing('p', { retry: retry(3, 100, 150, { backoff_multiplier: 2 }) })));
        expect((await stage.until(id)).state).toBe('failed');
        const [first, second] = gaps(stage.probe.times('p'));
        expect(stage.probe.count('p')).toBe(3);
        for (const [gap, wait] of [
          [first, 100],
          [second, 150],
        ] as const) {
          expect(gap).toBeGreaterThanOrEqual(wait);
          expect(gap).toBeLessThan(wait + 20);
        }
        expect((await stage.get('/instances/dlq')).map((dead: { id: string }) => dead.id)).toEqual([id]);
        const rows = await stage.get(`/instances/${id}/outputs?include=markers`);
        const markers = rows.map((row: { output_ref: string | null }) => row.output_ref);
        expect(markers.filter((ref: string | null) => ref === '__retry__')).toHaveLength(2);
      },
    );

    it.each([
      ['false', { retryable: false }],
      ['left out', {}],
    ])('C03: a failure of a worker with retryable %s ends five tries after the first', async (_, report) => {
      const id = await run([parallel('b', [step('w', { handler: 'work', retry: retry(5, 100) })])]);
      await stage.until(id, 'waiting');
      await stage.fail(await stage.poll('work'), report);
      expect((await stage.until(id)).state).toBe('failed');
      expect((await stage.nodes(id))['w']).toMatchObject({ state: 'failed', attempt: 0 });
      expect(await stage.poll('work')).toBeUndefined();
    });

    it('C05: the condition of a retry reads the message of the failure', async () => {
      const policy = retry(9, 10, 10, { retry_if: "starts_with(data._error.message, 'tmp')" });
      const id = await run([loop('l', [step('w', { handler: 'work', retry: policy })])]);
      for (const message of ['tmp 1', 'tmp 2', 'hard']) {
        await stage.until(id, 'waiting');
        await stage.fail(await stage.poll('work'), { message, retryable: true });
        await stage.calm();
      }
      expect((await stage.until(id)).state).toBe('failed');
      expect((await stage.nodes(id))['w']).toMatchObject({ attempt: 2, error: { message: 'hard' } });
    });

    it.each([
      ['a worker that never answers', step('w', { handler: 'nobody', deadline: 1_000 })],
      ['tries that go on and on', probing('w', { deadline: 1_000, retry: retry(99, 400) })],
      ['an answer that never comes', probing('w', { deadline: 1_000, timeout: 60_000 })],
    ])('C07: at the deadline of %s somebody is called once, and the catch around runs', async (_, block) => {
      const pages: unknown[] = [];
      const handlers = [defineHandler('page', {}, (params) => void pages.push(params))];
      stage.server({ handlers });
      stage.probe.answer('w', (nth) =>
        nth > 0 || Object.hasOwn(block, 'retry') ? { status: 503 } : { takesMs: null },
      );
      const breach = { on_deadline_breach: { handler: 'page', params: { order: '{{ data.no }}' } } };
      const id = await stage.run(
        [parallel('b', [tryCatch('t', [{ ...block, ...breach }], [step('caught')])])],
        { context: { data: { no: 7 } } },
      );
      expect((await stage.until(id)).state).toBe('completed');
      expect(pages).toHaveLength(1);
      const [page] = pages as { elapsed_ms: number }[];
      expect(page).toMatchObject({ order: 7, block_id: 'w', instance_id: id, deadline_ms: 1_000 });
      expect(page?.elapsed_ms).toBeGreaterThanOrEqual(1_000);
      expect(await stage.tree(id)).toMatchObject({ w: 'failed', caught: 'completed' });
      expect((await stage.outputs(id))[0].output).toMatchObject({ _error: 'sla_deadline_breached' });
    });

    it('C13: what has completed is not retried, and what is unknown is not found', async () => {
      const id = await run([step('a')]);
      await stage.until(id, 'completed');
      const again = (of: string) => stage.post(`/instances/${of}/retry`);
      expect([(await again(id)).status, (await again(nextId())).status]).toEqual([400, 404]);
    });

    it.each(AROUND)('C15: waits %s that grow by four are 1, 4, 16 and 60 s', async (_, around) => {
      stage.probe.answer('p', (nth) => (nth < 4 ? { status: 503 } : {}));
      const policy = retry(5, 1_000, 60_000, { backoff_multiplier: 4 });
      const id = await run(around(probing('p', { retry: policy })));
      expect((await stage.until(id)).state).toBe('completed');
      const waits = gaps(stage.probe.times('p'));
      expect(waits).toHaveLength(4);
      for (const [index, wanted] of [1_000, 4_000, 16_000, 60_000].entries()) {
        expect(waits[index]).toBeGreaterThanOrEqual(wanted);
        expect(waits[index]).toBeLessThan(wanted * 1.1);
      }
    });
  });
}
