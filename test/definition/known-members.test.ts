import { describe, expect, it } from 'vitest';
import { accepted, acceptedStep, documentOf, step, warningsOf } from './documents.ts';

describe('unknown members', () => {
  it('[UNK-1] are dropped, with one warning each that names the path and a near member', () => {
    const body = documentOf([step('a', { retyr: 1, colour: 2, delay: { duration: 1, jiter: 3 } })], {
      stauts: 'x',
    });
    expect(warningsOf(body)).toEqual([
      {
        code: 'unknown_field',
        block_id: 'a',
        path: 'blocks[0].retyr',
        message: "unknown field 'retyr' is ignored; did you mean 'retry'?",
      },
      {
        code: 'unknown_field',
        block_id: 'a',
        path: 'blocks[0].colour',
        message: "unknown field 'colour' is ignored",
      },
      {
        code: 'unknown_field',
        block_id: 'a',
        path: 'blocks[0].delay.jiter',
        message: "unknown field 'jiter' is ignored; did you mean 'jitter'?",
      },
      {
        code: 'unknown_field',
        path: 'stauts',
        message: "unknown field 'stauts' is ignored; did you mean 'status'?",
      },
    ]);
    expect(JSON.stringify(accepted(body))).not.toMatch(/retyr|colour|jiter|stauts/);
  });

  it('[UNK-1] are found in every kind of list', () => {
    const odd = (id: string) => step(id, { odd: 1 });
    const body = documentOf(
      [
        { type: 'parallel', id: 'p', branches: [[odd('p1')]] },
        {
          type: 'router',
          id: 'r',
          routes: [{ condition: 'x', blocks: [odd('r1')], odd: 1 }],
          default: [odd('r2')],
        },
        {
          type: 'try_catch',
          id: 't',
          try_block: [odd('t1')],
          catch_block: [odd('t2')],
          finally_block: [odd('t3')],
        },
        { type: 'saga', id: 's', steps: [{ id: 's0', action: odd('s1'), compensation: odd('s2'), odd: 1 }] },
      ],
      { on_failure: [odd('h')] },
    );
    expect(
      warningsOf(body)
        .filter(({ code }) => code === 'unknown_field')
        .map(({ path }) => path),
    ).toEqual([
      'blocks[0].branches[0][0].odd',
      'blocks[1].routes[0].blocks[0].odd',
      'blocks[1].routes[0].odd',
      'blocks[1].default[0].odd',
      'blocks[2].try_block[0].odd',
      'blocks[2].catch_block[0].odd',
      'blocks[2].finally_block[0].odd',
      'blocks[3].steps[0].action.odd',
      'blocks[3].steps[0].compensation.odd',
      'blocks[3].steps[0].odd',
      'on_failure[0].odd',
    ]);
  });

  it('[UNK-1] of params and schemas belong to the user and are kept', () => {
    const params = { anything: { goes: [1, { here: null }] } };
    expect(acceptedStep({ params }).params).toEqual(params);
    expect(warningsOf(documentOf([step('a', { params, output_schema: { odd: true } })]))).toEqual([]);
  });

  it('[UNK-1] of chapter 24 that the core does not know are ignored with a warning', () => {
    const body = documentOf([step('a', { approval: { key: 'k' }, fallback_block: 'b' })], { rollback: {} });
    expect(warningsOf(body).map(({ path }) => path)).toEqual([
      'blocks[0].approval',
      'blocks[0].fallback_block',
      'rollback',
    ]);
  });

  it('[UNK-1] with awkward names are quoted in the path and cut', () => {
    const long = 'x'.repeat(500);
    const warnings = warningsOf(documentOf([step('a', { 'a b': 1, [long]: 1 })]));
    expect(warnings[0]?.path).toBe('blocks[0]["a b"]');
    expect(warnings[1]?.message.length).toBeLessThan(200);
  });

  it('[UNK-1] are counted beyond a thousand and no longer listed', () => {
    const members = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`odd${index}`, 1]));
    const warnings = warningsOf(documentOf([step('a', members)]));
    expect(warnings).toHaveLength(1001);
    expect(warnings.at(-1)?.code).toBe('more_warnings');
  });

  it('null means absent for optional members (http-api.md 1.6)', () => {
    const parsed = acceptedStep({
      delay: null,
      retry: null,
      params: null,
      cancellable: null,
      output_schema: null,
    });
    expect(parsed).toEqual({ type: 'step', id: 'a', handler: 'noop', cancellable: true });
    const router = { type: 'router', id: 'r', routes: [], default: null };
    expect(() => accepted(documentOf([router]))).toThrow('at least one route or a default');
  });

  it('null in params is data and is kept', () => {
    expect(acceptedStep({ params: { a: null } }).params).toEqual({ a: null });
  });

  it('keeps a null __proto__ member of params as data', () => {
    const body: unknown = JSON.parse('{"__proto__": {"polluted": true}, "x": 1}');
    const params = acceptedStep({ params: body as never }).params;
    expect(JSON.stringify(params)).toBe('{"__proto__":{"polluted":true},"x":1}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
