import { describe, expect, it } from 'vitest';
import { MAX_DURATION_MS } from '../../src/core/definition/times.ts';
import { accepted, acceptedStep, documentOf, refusal, refusalOf, step } from './documents.ts';

describe('shape of a document', () => {
  it.each(['id', 'tenant_id', 'namespace', 'name', 'version', 'blocks', 'created_at'])(
    '[PUB-2] answers 422 when %s is missing',
    (name) => {
      const error = refusal(documentOf([step('a')], { [name]: undefined }));
      expect(error.status).toBe(422);
      expect(error.message).toContain(`missing field \`${name}\``);
    },
  );

  it('[PUB-2] names the path of what is wrong inside a block', () => {
    const router = { type: 'router', id: 'r', routes: [{ blocks: [] }] };
    expect(refusalOf([step('a'), step('b'), router])).toBe(
      '422 missing field `condition` at blocks[2].routes[0].condition',
    );
  });

  it('[PUB-2] lists every shape problem in details', () => {
    const error = refusal(documentOf([step('a', { handler: 7 }), { type: 'loop', id: 'l' }]));
    expect(error.details.map(({ path }) => path)).toEqual([
      'blocks[0].handler',
      'blocks[1].condition',
      'blocks[1].body',
    ]);
  });

  it('[PUB-2] lists at most 100 shape problems', () => {
    const blocks = Array.from({ length: 150 }, (_, index) => step(`s${index}`, { handler: 1 }));
    expect(refusal(documentOf(blocks)).details).toHaveLength(100);
  });

  it.each([null, true, 7, 'text', [], [[]]])(
    '[PUB-2] answers 422 to a body that is no object: %j',
    (body) => {
      expect(refusal(body).status).toBe(422);
    },
  );

  it('[PUB-2] shape comes before limits', () => {
    const broken = { type: 'loop', id: 'l', condition: ' ', body: [] };
    expect(refusalOf([broken, step('a', { handler: true })])).toMatch(/^422 /);
  });

  it('[UNK-2] refuses a known member with the wrong JSON type', () => {
    expect(refusalOf([step('a', { cancellable: 'yes' })])).toBe(
      '422 expected a boolean, got a string at blocks[0].cancellable',
    );
    expect(refusalOf([step('a', { retry: [] })])).toContain('expected an object, got an array');
    expect(refusalOf([step('a', { send_window: 5 })])).toContain('expected an object, got the number 5');
    expect(refusalOf({})).toContain('expected an array, got an object at blocks');
    expect(refusalOf([null])).toContain('expected an object, got null at blocks[0]');
  });

  it('[UNK-2] refuses an unknown block type and suggests a known one', () => {
    const message = refusalOf([{ type: 'parallell', id: 'p', branches: [] }]);
    expect(message).toMatch(
      /^422 unknown block type `parallell`, .* did you mean 'parallel'\? at blocks\[0\]/,
    );
  });

  it('[UNK-2] says of a block type that is a built-in handler how a step is written', () => {
    expect(refusalOf([{ type: 'sleep', id: 'p' }])).toMatch(
      /^422 unknown block type `sleep`, .*`; 'sleep' is a handler: write type 'step' and handler 'sleep' at blocks\[0\]/,
    );
    expect(refusalOf([{ type: 'sleeep', id: 'p' }])).not.toContain('is a handler');
  });

  it('[UNK-2] refuses a block type that is no text, or absent', () => {
    expect(refusalOf([{ type: 4, id: 'p' }])).toMatch(/^422 expected one of .* got the number 4/);
    expect(refusalOf([{ id: 'p' }])).toBe('422 missing field `type` at blocks[0].type');
  });

  it('[UNK-2] refuses a block type named like a member of every object', () => {
    expect(refusalOf([{ type: 'constructor', id: 'p' }])).toMatch(/^422 unknown block type `constructor`/);
    expect(refusalOf([{ type: '__proto__', id: 'p' }])).toMatch(/^422 unknown block type/);
  });

  it('[UNK-2] refuses unknown enumeration values', () => {
    expect(refusalOf([step('a')], { status: 'live' })).toMatch(
      /^422 unknown value `live`, expected one of `draft`/,
    );
    const race = { type: 'race', id: 'r', branches: [[]], semantics: 'first' };
    expect(refusalOf([race])).toMatch(/^422 unknown value `first`/);
    expect(refusalOf([step('a', { on_uncertain: 3 })])).toMatch(/^422 expected one of .* got the number 3/);
  });

  it('[ENUM-2] enumerations other than priority are case-sensitive', () => {
    expect(refusalOf([step('a')], { status: 'Draft' })).toMatch(/^422 /);
  });

  it('[ENUM-3] reads ab_split as a_b_split', () => {
    const variants = [
      { name: 'a', weight: 1, blocks: [] },
      { name: 'b', weight: 1, blocks: [] },
    ];
    expect(accepted(documentOf([{ type: 'ab_split', id: 's', variants }])).blocks[0]?.type).toBe('a_b_split');
    expect(accepted(documentOf([{ type: 'a_b_split', id: 's', variants }])).blocks[0]?.type).toBe(
      'a_b_split',
    );
  });

  it('[VAL-3] keeps created_at as given and accepts any offset', () => {
    for (const given of ['2027-02-01T09:00:00Z', '2027-02-01T10:00:00.5+01:00', '2028-02-29t00:00:00z']) {
      expect(accepted(documentOf([step('a')], { created_at: given })).created_at).toBe(given);
    }
  });

  it.each([
    '',
    'soon',
    '2027-02-30T09:00:00Z',
    '2027-13-01T09:00:00Z',
    '2027-02-01T24:00:00Z',
    '2027-02-01',
    5,
  ])('[VAL-3] answers 422 to the instant %j', (given) => {
    expect(refusalOf([step('a')], { created_at: given })).toMatch(/^422 .* at created_at$/);
  });

  it.each(['2100-02-29', '2027-04-31', '2027-00-10', '2027-01-00'])(
    '[VAL-3] knows that %s is no date',
    (date) => {
      expect(refusalOf([step('a')], { created_at: `${date}T00:00:00Z` })).toMatch(/^422 /);
    },
  );

  it('[VAL-3] knows the leap day of the year 2000', () => {
    const given = '2000-02-29T00:00:00Z';
    expect(accepted(documentOf([step('a')], { created_at: given })).created_at).toBe(given);
  });

  it('[VAL-4] normalises ids to lower case and refuses what is no UUID', () => {
    expect(accepted(documentOf([step('a')], { id: '5D0C3F0A-9B1E-4F57-8A3C-1E2F60B7A911' })).id).toBe(
      '5d0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911',
    );
    expect(refusalOf([step('a')], { id: 'reorder' })).toBe('422 expected a UUID at id');
  });

  it('refuses an empty tenant with 422 and a version that is no 32-bit integer', () => {
    expect(refusalOf([step('a')], { tenant_id: '' })).toMatch(/^422 must not be empty at tenant_id/);
    expect(refusalOf([step('a')], { version: 1.5 })).toBe(
      '422 expected a whole number, got the number 1.5 at version',
    );
    expect(refusalOf([step('a')], { version: 2 ** 31 })).toMatch(/^422 .* at version/);
    expect(accepted(documentOf([step('a')], { version: -3 })).version).toBe(-3);
  });

  it('applies the defaults of the top level and leaves optional members absent', () => {
    const document = accepted(documentOf([step('a')]));
    expect(document).toEqual({
      ...documentOf([{ type: 'step', id: 'a', handler: 'noop', cancellable: true }]),
      status: 'production',
      deprecated: false,
    });
  });

  it('applies the defaults inside a step', () => {
    const parsed = acceptedStep({
      delay: { duration: 5 },
      send_window: {},
      wait_for_input: {},
      retry: { max_attempts: 2, initial_backoff: 1, max_backoff: 1 },
      context_access: {},
      compensation: { handler: 'undo' },
    });
    expect(parsed.delay).toEqual({ duration: 5, business_days_only: false, holidays: [] });
    expect(parsed.send_window).toEqual({ start_hour: 9, end_hour: 17, days: [] });
    expect(parsed.wait_for_input).toEqual({
      prompt: '',
      choices: [
        { label: 'Yes', value: 'yes' },
        { label: 'No', value: 'no' },
      ],
      allow_comment: false,
    });
    expect(parsed.retry?.backoff_multiplier).toBe(2);
    expect(parsed.context_access).toEqual({ data: true, config: true, audit: false, runtime: false });
    expect(parsed.compensation).toEqual({ handler: 'undo', verification: 'handler_result' });
  });

  it('applies the defaults of composites', () => {
    const [loop, each, race, child] = accepted(
      documentOf([
        { type: 'loop', id: 'l', condition: 'true', body: [step('a')] },
        { type: 'for_each', id: 'f', collection: 'rows', body: [step('b')] },
        { type: 'race', id: 'r', branches: [[], []] },
        { type: 'sub_sequence', id: 's', sequence_name: 'other' },
      ]),
    ).blocks;
    expect(loop).toMatchObject({ max_iterations: 1000, continue_on_error: false });
    expect(each).toMatchObject({ max_iterations: 1000, item_var: 'item' });
    expect(each).not.toHaveProperty('concurrency');
    expect(race).toMatchObject({ semantics: 'first_to_resolve' });
    expect(child).toMatchObject({ input: null });
  });

  it('accepts every form of context_access.data and no other', () => {
    for (const data of [true, false, 'all', 'none', { fields: ['a.b'] }]) {
      expect(acceptedStep({ context_access: { data } }).context_access?.data).toEqual(data);
    }
    expect(refusalOf([step('a', { context_access: { data: 'some' } })])).toBe(
      '422 expected true, false, "all", "none" or {"fields": [...]} at blocks[0].context_access.data',
    );
  });

  it('keeps the additive members of RULINGS B10, B24 and B25', () => {
    const document = accepted(
      documentOf([
        step('a', { on_uncertain: 'ask', pool: 'mailboxes' }),
        {
          type: 'for_each',
          id: 'f',
          collection: 'rows',
          body: [step('b')],
          concurrency: 1000,
          on_item_failure: 'continue',
          tolerate: { percent: 12.5 },
          collect: true,
        },
        { type: 'parallel', id: 'p', branches: [[], []], fail_fast: true },
        { type: 'parallel', id: 'q', branches: [[], []], min_successful: 2 },
      ]),
    );
    expect(document.blocks[0]).toMatchObject({ on_uncertain: 'ask', pool: 'mailboxes' });
    expect(document.blocks[1]).toMatchObject({
      concurrency: 1000,
      tolerate: { percent: 12.5 },
      collect: true,
    });
    expect(document.blocks[2]).toMatchObject({ fail_fast: true });
    expect(document.blocks[3]).toMatchObject({ min_successful: 2 });
  });
});

describe('durations', () => {
  it.each([
    [45, 45],
    [1500, 1500],
    [1.5, 1500],
    [0.25, 250],
    [0, 0],
    [3.0, 3],
  ])('[DUR-1] reads %d as %d ms', (wire, milliseconds) => {
    expect(acceptedStep({ timeout: wire }).timeout).toBe(milliseconds);
  });

  it.each([
    [0.0004, 0],
    [0.0005, 1],
    [0.0015, 2],
    [1.2344, 1234],
    [1.2346, 1235],
  ])('[DUR-3] rounds %d s to %d ms', (wire, milliseconds) => {
    expect(acceptedStep({ timeout: wire }).timeout).toBe(milliseconds);
  });

  it.each([-1, -0.5, '5', true, [], Number.NaN, Number.POSITIVE_INFINITY])(
    '[DUR-2] answers 422 to the duration %j',
    (wire) => {
      expect(refusalOf([step('a', { timeout: wire })])).toMatch(/^422 .* at blocks\[0\]\.timeout/);
    },
  );

  it('[DUR-2] accepts ten years and answers 400 to more, wherever a duration stands', () => {
    const tooLong = MAX_DURATION_MS + 1;
    expect(acceptedStep({ timeout: MAX_DURATION_MS }).timeout).toBe(MAX_DURATION_MS);
    for (const members of [
      { timeout: tooLong },
      { deadline: tooLong },
      { delay: { duration: tooLong } },
      { delay: { duration: 0, jitter: tooLong } },
      { wait_for_input: { timeout: tooLong } },
      { retry: { max_attempts: 1, initial_backoff: 1, max_backoff: tooLong } },
    ]) {
      expect(refusalOf([step('a', members)])).toMatch(
        /^400 block 'a': .* must be at most 315360000000 ms .*DUR-2/,
      );
    }
    expect(refusalOf([step('a')], { sla: { max_runtime: tooLong } })).toMatch(/^400 max_runtime .*DUR-2/);
    expect(refusalOf([step('a')], { sla: { max_step_runtime: tooLong } })).toMatch(/^400 max_step_runtime/);
  });
});
