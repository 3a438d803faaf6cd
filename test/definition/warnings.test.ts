import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { codesOf, documentOf, step, warningsOf } from './documents.ts';

const each = (id: string, item_var: string, body: Json): JsonObject => ({
  type: 'for_each',
  id,
  collection: 'rows',
  item_var,
  body,
});

describe('warnings', () => {
  it('a clean document has none', () => {
    const blocks = [
      step('a', { params: { sku: '{{data.sku}}' }, when: 'data.sku != null' }),
      { type: 'parallel', id: 'p', branches: [[step('b', { params: '{{outputs.a.x}}' })], [step('c')]] },
      { type: 'loop', id: 'l', condition: 'outputs.b.more', break_on: 'steps.c', body: [step('d')] },
      { type: 'sub_sequence', id: 's', sequence_name: 'other', input: '{{data}}' },
      { type: 'cancellation_scope', id: 'k', blocks: [step('e')] },
    ];
    expect(codesOf(blocks)).toEqual([]);
  });

  it('unknown_handler names the handler and a near one, for the primary and the fallback', () => {
    const body = documentOf([step('a', { handler: 'nop', fallback_handler: 'mail_send' }), step('b')], {
      on_failure: [step('c', { handler: 'logg' })],
    });
    expect(warningsOf(body, { knownHandlers: new Set(['noop', 'log']) })).toEqual([
      {
        code: 'unknown_handler',
        block_id: 'a',
        path: 'blocks[0].handler',
        message: "handler 'nop' is not registered; a worker must serve it; did you mean 'noop'?",
      },
      {
        code: 'unknown_handler',
        block_id: 'a',
        path: 'blocks[0].fallback_handler',
        message: "handler 'mail_send' is not registered; a worker must serve it",
      },
      {
        code: 'unknown_handler',
        block_id: 'c',
        path: 'on_failure[0].handler',
        message: "handler 'logg' is not registered; a worker must serve it; did you mean 'log'?",
      },
    ]);
    expect(warningsOf(body)).toEqual([]);
  });

  it('empty_branch is about parallel branches only', () => {
    expect(codesOf([{ type: 'parallel', id: 'p', branches: [[], [step('a')], []] }])).toEqual([
      'empty_branch',
      'empty_branch',
    ]);
    expect(codesOf([{ type: 'race', id: 'r', branches: [[], []] }])).toEqual([]);
  });

  it('single_branch_race, empty_route, empty_catch and empty_saga are what they say', () => {
    expect(codesOf([{ type: 'race', id: 'r', branches: [[step('a')]] }])).toEqual(['single_branch_race']);
    const routes = [{ condition: 'data.x', blocks: [] }];
    expect(codesOf([{ type: 'router', id: 'r', routes }])).toEqual(['empty_route']);
    const attempt = { type: 'try_catch', id: 't', try_block: [step('a')], catch_block: [] };
    expect(codesOf([attempt])).toEqual(['empty_catch']);
    expect(codesOf([{ ...attempt, catch_block: [step('b')] }])).toEqual([]);
    expect(codesOf([{ type: 'saga', id: 's', steps: [] }])).toEqual(['empty_saga']);
    expect(codesOf([{ type: 'saga', id: 's', steps: [{ id: 'x', action: step('a') }] }])).toEqual([]);
  });

  it('zero_weight names the variant', () => {
    const variants = [
      { name: 'old', weight: 0, blocks: [] },
      { name: 'new', weight: 1, blocks: [] },
    ];
    const [warning] = warningsOf(documentOf([{ type: 'a_b_split', id: 's', variants }]));
    expect(warning).toMatchObject({ code: 'zero_weight', path: 'blocks[0].variants[0].weight' });
    expect(warning?.message).toContain("'old'");
  });

  it('timeout_exceeds_deadline needs both, and a longer timeout', () => {
    expect(codesOf([step('a', { timeout: 11, deadline: 10 })])).toEqual(['timeout_exceeds_deadline']);
    expect(codesOf([step('a', { timeout: 10, deadline: 10 })])).toEqual([]);
    expect(codesOf([step('a', { timeout: 10 }), step('b', { deadline: 1 })])).toEqual([]);
  });

  it('fallback_is_primary and breach_without_deadline look at one step', () => {
    expect(codesOf([step('a', { fallback_handler: 'noop' })])).toEqual(['fallback_is_primary']);
    const breach = { on_deadline_breach: { handler: 'log' } };
    expect(codesOf([step('a', breach)])).toEqual(['breach_without_deadline']);
    expect(codesOf([step('a', { ...breach, deadline: 5 })])).toEqual([]);
  });

  it('unreachable marks every block after an unconditional fail in the same list', () => {
    const stop = (id: string, members: JsonObject = {}) => step(id, { handler: 'fail', ...members });
    const body = documentOf([step('a'), stop('b'), step('c'), stop('d'), step('e')]);
    expect(warningsOf(body).map(({ code, block_id }) => [code, block_id])).toEqual([
      ['unreachable', 'c'],
      ['unreachable', 'd'],
      ['unreachable', 'e'],
    ]);
    expect(codesOf([stop('b', { when: 'data.bad' }), step('c')])).toEqual([]);
    expect(codesOf([{ type: 'parallel', id: 'p', branches: [[stop('b')], [step('c')]] }, step('d')])).toEqual(
      [],
    );
  });

  it('unreachable does not speak about cleanup lists, where every hook runs', () => {
    const hooks = [step('x', { handler: 'fail' }), step('y')];
    expect(codesOf([step('a')], { on_failure: hooks, on_cancel: hooks })).toEqual([]);
  });

  it('event_gate wants a gate with the default choices', () => {
    const wait = (members: JsonObject = {}) =>
      step('a', { handler: 'wait_for_event', params: { events: 'paid', correlation_key: 'k' }, ...members });
    expect(codesOf([wait()])).toEqual(['event_gate']);
    expect(codesOf([wait({ wait_for_input: { choices: [{ label: 'Go', value: 'go' }] } })])).toEqual([
      'event_gate',
    ]);
    expect(codesOf([wait({ wait_for_input: { timeout: 5 } })])).toEqual([]);
  });

  it('unknown_output_ref speaks about templates and expressions', () => {
    const body = documentOf([
      step('a', { params: { x: '{{outputs.gone.y}}' }, when: 'steps.lost > 1' }),
      step('b', { params: '{{outputs.a}}', rate_limit_key: '{{outputs.none}}', cache_key: '{{outputs.a}}' }),
    ]);
    expect(warningsOf(body).map(({ code, path }) => [code, path])).toEqual([
      ['unknown_output_ref', 'blocks[0].when'],
      ['unknown_output_ref', 'blocks[0].params'],
      ['unknown_output_ref', 'blocks[1].rate_limit_key'],
    ]);
  });

  it('unknown_output_ref knows the main tree and the own list in a cleanup list', () => {
    const hooks = [step('h1'), step('h2', { params: ['{{outputs.a}}', '{{outputs.h1}}'] })];
    expect(codesOf([step('a')], { on_failure: hooks })).toEqual([]);
    expect(codesOf([step('a', { params: '{{outputs.h1}}' })], { on_failure: hooks })).toEqual([
      'unknown_output_ref',
    ]);
  });

  it.each([
    ['assert', ['condition']],
    ['set_state', ['key', 'value']],
    ['merge_state', ['values']],
    ['http_request', ['url']],
    ['send_signal', ['instance_id', 'signal_type']],
    ['emit_event', ['trigger_slug']],
    ['mcp_call', ['url or server', 'tool_name']],
  ])('missing_param names what %s needs', (handler, needs) => {
    const messages = warningsOf(documentOf([step('a', { handler })])).map(({ message }) => message);
    expect(messages).toEqual(needs.map((need) => `'${handler}' needs the param ${need}`));
  });

  it('missing_param is content with one of several, with null, and with params known only at run time', () => {
    const mcp = (params: JsonObject) => codesOf([step('a', { handler: 'mcp_call', params })]);
    expect(mcp({ server: 's', action: 'list' })).toEqual([]);
    expect(mcp({ url: 'u', action: 'call' })).toEqual(['missing_param']);
    expect(codesOf([step('a', { handler: 'set_state', params: { key: 'k', value: null } })])).toEqual([]);
    expect(codesOf([step('a', { handler: 'set_state', params: '{{data.p}}' })])).toEqual([]);
    expect(codesOf([step('a', { handler: 'get_state', params: 'k' })])).toEqual(['missing_param']);
    expect(
      codesOf([step('a', { handler: 'get_state', params: JSON.parse('{"__proto__": {"key": 1}}') })]),
    ).toEqual(['missing_param', 'unknown_param']);
  });

  it('missing_param asks wait_for_event for a count when it joins by count', () => {
    const params = { events: ['a'], correlation_key: 'k', join: 'count' };
    const wait = (extra: JsonObject) =>
      codesOf([
        step('a', { handler: 'wait_for_event', params: { ...params, ...extra }, wait_for_input: {} }),
      ]);
    expect(wait({})).toEqual(['missing_param']);
    expect(wait({ count: 2 })).toEqual([]);
  });

  it('bad_expression and bad_template point at the text that does not parse', () => {
    const body = documentOf([
      step('a', {
        when: 'data.x ==',
        params: { t: '{{data.x | replace(}}' },
        wait_for_input: { prompt: '{{upper(data.x)}}' },
        retry: { max_attempts: 1, initial_backoff: 1, max_backoff: 1, retry_if: '1 2' },
        deadline: 5,
        on_deadline_breach: { handler: 'log', params: '{{nope(data.x)}}' },
      }),
      { type: 'router', id: 'r', routes: [{ condition: '(', blocks: [step('b')] }] },
      { type: 'loop', id: 'l', condition: ')', break_on: '[', body: [step('c')] },
      { type: 'sub_sequence', id: 's', sequence_name: 'x', input: { y: '{{}}' } },
      { ...each('f', 'row', [step('d')]), collection: '{{}}' },
    ]);
    expect(warningsOf(body).map(({ code, path }) => `${code} ${path}`)).toEqual([
      'bad_expression blocks[0].when',
      'bad_expression blocks[0].retry.retry_if',
      'bad_template blocks[0].params',
      'bad_template blocks[0].wait_for_input.prompt',
      'bad_template blocks[0].on_deadline_breach.params',
      'bad_expression blocks[1].routes[0].condition',
      'bad_expression blocks[2].condition',
      'bad_expression blocks[2].break_on',
      'bad_template blocks[3].input',
      'bad_template blocks[4].collection',
    ]);
  });

  it('bad_expression looks into the condition of an assert', () => {
    expect(codesOf([step('a', { handler: 'assert', params: { condition: 'data.x = 1' } })])).toEqual([
      'bad_expression',
    ]);
    expect(codesOf([step('a', { handler: 'assert', params: { condition: true } })])).toEqual(['bad_param']);
  });

  it('a blank when gets no warning here, because it is legal and means never', () => {
    expect(codesOf([step('a', { when: '  ' })])).toEqual([]);
  });

  it('bad_template knows the items of the loops around a step and no others', () => {
    const read = (id: string) => step(id, { params: { to: '{{person.email}}' } });
    expect(codesOf([each('f', 'person', [each('g', 'line', [read('a')])])])).toEqual([]);
    expect(codesOf([each('f', 'person', [step('x')]), read('a')])).toEqual(['bad_template']);
  });

  it('bad_template leaves blocks alone that are injected later', () => {
    const inner = [{ type: 'step', id: 'z', handler: 'noop', params: { $raw: '{{upper(data.x)}}' } }];
    expect(codesOf([step('a', { handler: 'self_modify', params: { blocks: inner } })])).toEqual([]);
  });

  it('hyphen_in_expression speaks when the block exists', () => {
    expect(codesOf([step('a-b'), step('c', { when: 'outputs.a-b.x' })])).toContain('hyphen_in_expression');
  });

  it('interceptor_not_invoked speaks about each interceptor that is only recorded', () => {
    const interceptors = { before_step: { handler: 'audit' }, on_signal: { handler: 'audit', invoke: true } };
    expect(warningsOf(documentOf([step('a')], { interceptors }))).toEqual([
      {
        code: 'interceptor_not_invoked',
        path: 'interceptors.before_step',
        message: `'audit' is recorded and not called; set "invoke": true to call it`,
      },
    ]);
  });

  it('nested_cleanup speaks about blocks of cleanup lists that are passed over', () => {
    const hooks = [{ type: 'parallel', id: 'p', branches: [[step('x')]] }, step('y')];
    expect(warningsOf(documentOf([step('a')], { on_cancel: hooks }))).toEqual([
      {
        code: 'nested_cleanup',
        block_id: 'p',
        path: 'on_cancel[0]',
        message: 'only steps run in on_cancel; this parallel is passed over',
      },
    ]);
  });

  it.each([
    'my item',
    '1st',
    'naïve',
    'context',
    'data',
    'config',
    'outputs',
    'steps',
    'input',
    'instance_id',
    'state',
  ])('item_var_name speaks about %j', (name) => {
    expect(codesOf([each('f', name, [step('a')])])).toEqual(['item_var_name']);
  });

  it('item_var_shadowed speaks about a for_each inside another with the same name, however deep', () => {
    const inner = each('inner', 'row', [step('a')]);
    const scope = { type: 'cancellation_scope', id: 's', blocks: [inner] };
    expect(warningsOf(documentOf([each('outer', 'row', [scope])]))).toEqual([
      {
        code: 'item_var_shadowed',
        block_id: 'inner',
        path: 'blocks[0].body[0].blocks[0].item_var',
        message: "hides the item of 'outer', which has the same item_var",
      },
    ]);
    expect(codesOf([each('outer', 'other', [inner])])).toEqual([]);
    expect(codesOf([inner, each('second', 'row', [step('b')])])).toEqual([]);
  });
});
