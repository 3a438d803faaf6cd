import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { codesOf, documentOf, step, warningsOf } from './documents.ts';

describe('warnings about handlers that do nothing where they stand', () => {
  it('effect_dropped speaks about what an interceptor or an escalation cannot do [INT-5] [DL-3] [HI-10]', () => {
    const invoked = (handler: string) => ({ on_complete: { handler, params: '{{data.p}}', invoke: true } });
    const of = (interceptors: JsonObject) => warningsOf(documentOf([step('a')], { interceptors }));
    expect(of(invoked('send_signal')).map(({ code, path }) => [code, path])).toEqual([
      ['effect_dropped', 'interceptors.on_complete'],
    ]);
    expect(of(invoked('http_request'))).toEqual([]);
    const breach = (handler: string) =>
      step('a', { deadline: 5, on_deadline_breach: { handler, params: '{{data.p}}' } });
    expect(codesOf([breach('self_modify')])).toEqual(['effect_dropped']);
    expect(codesOf([breach('send_signal')])).toEqual([]);
    const gate = (handler: string) => step('a', { wait_for_input: { escalation_handler: handler } });
    expect(codesOf([gate('wait_for_event')])).toEqual(['effect_dropped']);
    expect(codesOf([gate('set_state')])).toEqual([]);
  });
});
