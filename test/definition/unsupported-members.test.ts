import { describe, expect, it } from 'vitest';
import { documentOf, step, unsupportedBy } from './documents.ts';

const eachRow = { type: 'for_each', id: 'f', collection: 'rows', item_var: 'row', body: [step('a')] };

describe('members that this release stores and does not execute', () => {
  it('unsupported_member speaks about fan-out members that are not executed, unless they ask for what happens', () => {
    const usual = { concurrency: 1, on_item_failure: 'fail', collect: false };
    expect(unsupportedBy(documentOf([{ ...eachRow, ...usual }]))).toEqual([]);
    const fanOut = { concurrency: 5, on_item_failure: 'continue', tolerate: { count: 2 }, collect: true };
    expect(unsupportedBy(documentOf([{ ...eachRow, ...fanOut }]))).toEqual([
      'blocks[0].concurrency',
      'blocks[0].on_item_failure',
      'blocks[0].tolerate',
      'blocks[0].collect',
    ]);
  });

  it('unsupported_member speaks about members of steps and of the sequence that are not executed', () => {
    const limited = step('a', { rate_limit_key: 'mail', pool: 'senders', fallback_handler: 'noop' });
    const members = {
      interceptors: { before_step: { handler: 'log' } },
      sla: { max_runtime: 1000 },
      on_failure: [step('f')],
      on_cancel: [step('c')],
    };
    expect(unsupportedBy(documentOf([limited], members))).toEqual([
      'interceptors',
      'sla',
      'on_failure',
      'on_cancel',
      'blocks[0].rate_limit_key',
      'blocks[0].pool',
      'blocks[0].fallback_handler',
    ]);
  });
});
