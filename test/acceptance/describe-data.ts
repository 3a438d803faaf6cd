import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import { TENANT } from '../api/support/api-fixture.ts';
import { parallel, retry, shaping, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Keys and texts that are easily lost; parsed, so that `__proto__` is a key of its own. */
const STRANGE: JsonObject = JSON.parse(
  '{"__proto__":{"a":1},"constructor":"c","":"empty","a.b":"dot","🦀":"😀 𝄞","rtl":"שלום ‏مرحبا","nested":{"__proto__":[{"":null}]}}',
);

const circular = (): object => {
  const one: { self?: object } = {};
  one.self = one;
  return one;
};

/** What a step in code may return, and what is stored for it (RULINGS B11). */
const STORED: ReadonlyArray<readonly [string, () => unknown, Json]> = [
  ['undefined', () => undefined, null],
  ['a date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a date in a list', () => ({ at: [new Date(1)] }), { at: ['1970-01-01T00:00:00.001Z'] }],
];

const REFUSED: ReadonlyArray<readonly [string, () => unknown]> = [
  ['a BigInt', () => 10n],
  ['NaN', () => ({ n: Number.NaN })],
  ['a Map', () => new Map([['a', 1]])],
  ['a function', () => ({ f: () => 1 })],
  ['a circular object', circular],
  ['a symbol', () => [Symbol('s')]],
];

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** Data: scenarios B39 to B43. */
export function describeData(stage: Stage): void {
  describe(`data over ${stage.backend}`, () => {
    it('B39: strange keys and texts are the same behind a step, a worker, a signal, an output and a list', async () => {
      const id = await stage.run(
        [
          shaping('step', { all: '{{ data.start }}' }),
          step('work', { handler: 'carry', params: { all: '{{ outputs.step.all }}' } }),
          parallel('p', [shaping('later', { signal: '{{ data.sent }}', worker: '{{ outputs.work.back }}' })]),
        ],
        { context: { data: { start: STRANGE } }, metadata: STRANGE },
      );
      await stage.until(id, 'waiting');
      await stage.signal(id, 'update_context', { data: { sent: STRANGE } });
      const task = await stage.poll('carry');
      expect(task.params).toEqual({ all: STRANGE });
      await stage.complete(task, { back: STRANGE });
      const run = await stage.until(id, 'completed');
      const texts = [run.context.data.start, run.context.data.sent, run.context.data.back, run.metadata];
      const [first, work, later] = await stage.outputs(id);
      texts.push(first.output.all, work.output.back, later.output.signal, later.output.worker);
      const { items } = await stage.get(`/instances?sequence_id=${run.sequence_id}`);
      texts.push(items[0].context.data.start, items[0].metadata);
      for (const text of texts) expect(sorted(text)).toBe(sorted(STRANGE));
    });

    const answering = (value: () => unknown) => [defineHandler('answer', {}, value)];
    const later = shaping('later', { value: '{{ outputs.code }}' });
    const restarted = { ...later, id: 'restarted', wait_for_input: { prompt: '?' } };
    const code = [step('code', { handler: 'answer', retry: retry(3) }), later, restarted];

    it.each(STORED)(
      'B41: %s of a step in code is stored, and the same behind a restart',
      async (_, value, stored) => {
        stage.server({ handlers: answering(value) });
        const id = await stage.run(code);
        await stage.until(id, 'waiting');
        await stage.jump(1_000, { handlers: answering(value) });
        await stage.answer(id, 'restarted');
        expect((await stage.until(id)).state).toBe('completed');
        const rows = (await stage.outputs(id)).filter((row) => row.output?._human_gate !== true);
        expect(rows.map((row) => row.output)).toEqual([stored, { value: stored }, { value: stored }]);
      },
    );

    it.each(REFUSED)('B41: %s of a step in code fails the step, without a retry', async (_, value) => {
      stage.server({ handlers: answering(value) });
      const id = await stage.run([parallel('p', code)]);
      expect((await stage.until(id)).state).toBe('failed');
      expect((await stage.nodes(id))['code']).toMatchObject({
        attempt: 0,
        error: { code: 'INVALID_OUTPUT' },
      });
    });

    it.each([65, 1_000, 100_000])(
      'B43: JSON of %i levels is refused everywhere, and nothing hangs',
      async (depth) => {
        const id = await stage.run([tryCatch('t', [step('work', { handler: 'carry' })], [])]);
        await stage.until(id, 'waiting');
        const task = await stage.poll('carry');
        const raw = (path: string, text: string) => stage.call('POST', path, { raw: text });
        const start = `{"sequence_id":"${task.id}","tenant_id":"${TENANT}","namespace":"n","context":{"data":{"v":`;
        const replies = [
          await raw('/instances', `${start}${nested(depth)}}}}`),
          await raw(`/instances/${id}/signals`, `{"signal_type":"custom:x","payload":${nested(depth)}}`),
          await raw(
            `/workers/tasks/${task.id}/complete`,
            `{"worker_id":"w-1","claim_epoch":1,"output":${nested(depth)}}`,
          ),
        ];
        expect(replies.map(({ status }) => status)).toEqual([422, 422, 422]);
        await stage.complete(task, { fine: true });
        expect((await stage.until(id)).state).toBe('completed');
      },
    );

    it('B43: JSON of 50 levels is carried through', async () => {
      const value = JSON.parse(nested(50));
      const id = await stage.run([shaping('a', { v: '{{ data.v }}' })], { context: { data: { v: value } } });
      await stage.until(id, 'completed');
      expect((await stage.outputs(id))[0].output).toEqual({ v: value });
    });
  });
}

/** Text of a value in which the order of members does not count, and `__proto__` is a member like others. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`);
  return `{${members.toSorted().join()}}`;
}
