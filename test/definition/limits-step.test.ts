import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { acceptedStep, refusalOf, step } from './documents.ts';

const refused = (members: JsonObject): string => refusalOf([step('a', members)]);
const retry = (members: JsonObject = {}): JsonObject => ({
  retry: { max_attempts: 3, initial_backoff: 10, max_backoff: 100, ...members },
});
const gate = (choices: Json): JsonObject => ({ wait_for_input: { choices } });

describe('limits of a step', () => {
  it('[LIM-5] the handler is a non-empty string', () => {
    expect(refused({ handler: '' })).toBe(
      "400 block 'a': handler must not be empty (LIM-5) at blocks[0].handler",
    );
    expect(refused({ handler: null })).toMatch(/^422 /);
    expect(refused({ handler: 5 })).toMatch(/^422 /);
  });

  it('[LIM-15] max_attempts is 1 to 65,535', () => {
    expect(refused(retry({ max_attempts: 0 }))).toMatch(
      /^400 .*max_attempts must be between 1 and 65535 \(LIM-15\)/,
    );
    expect(refused(retry({ max_attempts: 65_536 }))).toContain('LIM-15');
    expect(refused(retry({ max_attempts: 1.5 }))).toMatch(/^422 /);
    for (const max_attempts of [1, 65_535]) {
      expect(acceptedStep(retry({ max_attempts })).retry?.max_attempts).toBe(max_attempts);
    }
  });

  it.each(['max_attempts', 'initial_backoff', 'max_backoff'])('[LIM-15] %s is required', (name) => {
    expect(refused(retry({ [name]: null }))).toMatch(/^422 .*retry/);
  });

  it('[LIM-15] backoff_multiplier is positive and finite', () => {
    expect(refused(retry({ backoff_multiplier: 0 }))).toContain('backoff_multiplier must be > 0 (LIM-15)');
    expect(refused(retry({ backoff_multiplier: -2 }))).toContain('LIM-15');
    expect(refused(retry({ backoff_multiplier: Number.POSITIVE_INFINITY }))).toMatch(/^422 /);
    expect(acceptedStep(retry({ backoff_multiplier: 0.5 })).retry?.backoff_multiplier).toBe(0.5);
  });

  it('[LIM-15] initial_backoff is not greater than max_backoff', () => {
    expect(refused(retry({ initial_backoff: 5000, max_backoff: 1000 }))).toContain('LIM-15');
    expect(acceptedStep(retry({ initial_backoff: 100 })).retry?.initial_backoff).toBe(100);
  });

  it('[LIM-15] retry_if is not blank', () => {
    expect(refused(retry({ retry_if: ' ' }))).toContain('retry_if must not be blank (LIM-15)');
    expect(refused(retry({ retry_if: 'x'.repeat(16_385) }))).toContain('LIM-21');
  });

  it('[LIM-15] non_retryable_codes have no blank entries; none, duplicates and any text are fine', () => {
    expect(refused(retry({ non_retryable_codes: ['404', ' '] }))).toMatch(
      /LIM-15\) at blocks\[0\]\.retry\.non_retryable_codes\[1\]$/,
    );
    for (const non_retryable_codes of [[], ['404', '404'], ['naïve 😀']]) {
      expect(acceptedStep(retry({ non_retryable_codes })).retry?.non_retryable_codes).toEqual(
        non_retryable_codes,
      );
    }
  });

  it('[LIM-16] hours are 0 to 23 and differ, days are 0 to 6', () => {
    const window = (members: JsonObject): JsonObject => ({ send_window: members });
    expect(refused(window({ start_hour: 24 }))).toContain('start_hour must be between 0 and 23 (LIM-16)');
    expect(refused(window({ start_hour: -1 }))).toContain('LIM-16');
    expect(refused(window({ end_hour: 24 }))).toContain('end_hour must be between 0 and 23 (LIM-16)');
    expect(refused(window({ start_hour: 17 }))).toContain('must differ (LIM-16)');
    expect(refused(window({ days: [0, 7] }))).toMatch(/LIM-16\) at blocks\[0\]\.send_window\.days\[1\]$/);
    expect(refused(window({ days: [-1] }))).toContain('LIM-16');
    expect(refused(window({ start_hour: 9.5 }))).toMatch(/^422 /);
    expect(
      acceptedStep(window({ start_hour: 23, end_hour: 0, days: [0, 6, 6] })).send_window?.days,
    ).toHaveLength(3);
  });

  it('[LIM-17] choices are not empty, their values distinct and non-empty', () => {
    expect(refused(gate([]))).toContain('choices must not be empty (LIM-17)');
    const yes = { label: 'Yes', value: 'yes' };
    expect(refused(gate([yes, yes]))).toContain("duplicate choice value 'yes' (LIM-17)");
    expect(refused(gate([{ label: 'None', value: '' }]))).toContain('LIM-17');
    expect(refused(gate([{ label: 'Yes' }]))).toMatch(/^422 missing field `value`/);
    expect(acceptedStep(gate([yes, { label: 'Yes', value: 'YES' }])).wait_for_input?.choices).toHaveLength(2);
  });

  it('[LIM-17] store_as is not empty', () => {
    expect(refused({ wait_for_input: { store_as: '' } })).toContain('store_as must not be empty (LIM-17)');
  });

  it('[LIM-18] a compensation has a handler and clean dependencies', () => {
    const undo = (members: JsonObject): JsonObject => ({ compensation: { handler: 'undo', ...members } });
    const many = (count: number): Json => Array.from({ length: count }, (_, index) => `d${index}`);
    expect(refused(undo({ handler: ' ' }))).toContain('handler must not be blank (LIM-18)');
    expect(refused(undo({ depends_on: ['a'] }))).toContain('must not contain the step itself (LIM-18)');
    expect(refused(undo({ depends_on: ['b', 'b'] }))).toContain('must not contain duplicates (LIM-18)');
    expect(refused(undo({ depends_on: many(257) }))).toContain('at most 256 entries (LIM-18)');
    expect(refused(undo({ verification: 'trust' }))).toMatch(/^422 /);
    expect(acceptedStep(undo({ depends_on: many(256) })).compensation?.depends_on).toHaveLength(256);
  });

  it.each([
    '2027-02-30T09:00:00',
    '2027-02-01 09:00:00',
    '2027-02-01T09:00',
    '2027-02-01T25:00:00',
    '2027-02-01T09:60:00',
    '2027-02-01T09:00:60',
    '2027-02-01T09:00:00Z',
    '',
  ])('[LIM-20] refuses the local time %j', (fire_at_local) => {
    expect(refused({ delay: { duration: 0, fire_at_local } })).toMatch(
      /^400 block 'a': fire_at_local .*LIM-20/,
    );
  });

  it('[LIM-20] refuses holidays that are no dates and zones nobody knows', () => {
    expect(refused({ delay: { duration: 0, holidays: ['2027-12-25', '2027-02-29'] } })).toMatch(
      /LIM-20\) at blocks\[0\]\.delay\.holidays\[1\]$/,
    );
    expect(refused({ delay: { duration: 0, holidays: ['25.12.2027'] } })).toContain('LIM-20');
    for (const timezone of [
      'Mars/Olympus',
      '',
      '+01:00',
      'Europe/Berlin ',
      '../etc/passwd',
      'x'.repeat(5000),
    ]) {
      expect(refused({ delay: { duration: 0, timezone } })).toContain('unknown time zone');
    }
  });

  it('[LIM-20] accepts real local times, dates and zones', () => {
    const delay = {
      duration: 0,
      fire_at_local: '2028-02-29T23:59:59',
      holidays: ['2028-02-29'],
      timezone: 'America/Argentina/Buenos_Aires',
    };
    expect(acceptedStep({ delay }).delay).toMatchObject(delay);
    expect(acceptedStep({ delay: { duration: 0, timezone: 'UTC' } }).delay?.timezone).toBe('UTC');
  });

  it('[LIM-20] asks the zone database about many names without keeping them all', () => {
    for (let index = 0; index < 2100; index += 1) {
      expect(refused({ delay: { duration: 0, timezone: `No/Zone${index}` } })).toContain('unknown time zone');
    }
    expect(acceptedStep({ delay: { duration: 0, timezone: 'Europe/Berlin' } }).delay?.timezone).toBe(
      'Europe/Berlin',
    );
  });

  it('[LIM-20] one zone may be named many times', () => {
    const delay = { duration: 0, timezone: 'Nowhere/Else' };
    expect(refusalOf([step('a', { delay }), step('b', { delay })])).toContain('unknown time zone');
  });

  it('[B24] pool is not blank', () => {
    expect(refused({ pool: ' ' })).toMatch(/^400 .*pool must not be blank \(B24\)/);
  });

  it('when is not judged at publish: blank and malformed texts are accepted', () => {
    expect(acceptedStep({ when: '' }).when).toBe('');
    expect(acceptedStep({ when: 'a ==' }).when).toBe('a ==');
  });
});
