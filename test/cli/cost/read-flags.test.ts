import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ASSUMPTION_NAMES, ASSUMPTIONS, DEFAULTS, flagOf } from '../../../src/cli/cost/assumptions.ts';
import { PRICES } from '../../../src/cli/cost/prices.ts';
import { type Flags, readPrices, readWorkload } from '../../../src/cli/cost/read-flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepwell-cost-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const read = (flags: Flags) =>
  readWorkload(flags, { arrival: 'spread', freeTiers: false, hosts: ['aws', 'cloudflare'] });

describe('the numbers of a workload', () => {
  it('have defaults that their own ranges allow', () => {
    const outside = ASSUMPTION_NAMES.filter((name) => {
      const [least, most] = ASSUMPTIONS[name].range;
      return DEFAULTS[name] < least || DEFAULTS[name] > most;
    });
    expect(outside).toEqual([]);
  });

  it('are each set by the flag of their name', () => {
    for (const name of ASSUMPTION_NAMES) {
      const [least] = ASSUMPTIONS[name].range;
      const arrival = ASSUMPTIONS[name].arrival ?? 'spread';
      const answer = readWorkload(
        { [flagOf(name)]: String(least) },
        { arrival, freeTiers: false, hosts: [ASSUMPTIONS[name].host ?? 'aws'] },
      );
      expect(answer).toMatchObject({ ok: true, value: { [name]: least } });
    }
  });

  it.each([
    ['cpu-ms', 'aws', 'cloudflare'],
    ['memory-mb', 'cloudflare', 'aws'],
  ] as const)('are refused where they are without effect: --%s with %s', (flag, host, other) => {
    const said = { arrival: 'spread', freeTiers: false } as const;
    expect(readWorkload({ [flag]: '128' }, { ...said, hosts: [host] })).toMatchObject({
      error: { message: `--${flag} goes with --host ${other}` },
    });
    expect(readWorkload({ [flag]: '128' }, { ...said, hosts: ['aws', 'cloudflare'] }).ok).toBe(true);
  });

  it('may have a point and an exponent', () => {
    const flags = { runs: '2e5', 'min-units': '.5', 'max-units': '2.0' };
    expect(read(flags)).toMatchObject({ value: { runs: 200_000, minUnits: 0.5, maxUnits: 2 } });
  });

  it('let a database grow that is larger than the default at its least', () => {
    expect(read({ 'min-units': '4' })).toMatchObject({ value: { minUnits: 4, maxUnits: 4 } });
  });

  it.each([
    [{ batch: '0' }, '--batch must be a number from 1 to 10, not 0'],
    [{ runs: 'many' }, '--runs must be a number from 0 to 1,000,000,000,000 a month, not many'],
    [{ runs: '0x10' }, 'not 0x10'],
    [{ runs: '200,000' }, 'not 200,000'],
    [{ runs: 'Infinity' }, 'not Infinity'],
    [{ runs: ' ' }, '--runs must be a number'],
    [{ runs: '' }, 'not nothing'],
    [{ runs: true }, 'not true'],
    [{ 'min-units': '1.2.3' }, '--min-units must be a number'],
    [{ 'steps-per-turn': '0' }, '--steps-per-turn must be a number from 1'],
    [{ 'business-days': '3' }, '--business-days goes with --arrival business-hours'],
    [{ 'min-units': '2', 'max-units': '1' }, '--max-units must not be below --min-units'],
  ])('refuse %j', (flags, message) => {
    const answer = read(flags);
    expect(answer.ok ? '' : answer.error.message).toContain(message);
  });
});

describe('the prices', () => {
  it('come from the list, the file, and the flag, the last one first', () => {
    const file = fileWith('prices.json', '{"log_gb": 3, "alarm_month": 1}');
    expect(readPrices('alarm_month=2, scheduler_million_calls = 4,', file)).toEqual({
      ok: true,
      value: {
        ...PRICES,
        log_gb: { ...PRICES.log_gb, dollars: 3, from: 'given', asOf: '' },
        alarm_month: { ...PRICES.alarm_month, dollars: 2, from: 'given', asOf: '' },
        scheduler_million_calls: { ...PRICES.scheduler_million_calls, dollars: 4, from: 'given', asOf: '' },
      },
    });
  });

  it.each([
    ['log_gb=cheap', undefined, 'log_gb=cheap sets no price'],
    ['log_gb=-1', undefined, 'log_gb=-1 sets no price'],
    ['log_gb=1=2', undefined, 'log_gb=1=2 sets no price'],
    ['log_gb', undefined, 'log_gb sets no price'],
    ['neon_unit_hours=1', undefined, "did you mean 'neon_unit_hour'?"],
    ['__proto__=1', undefined, '__proto__ is not a price'],
    ['', 'nowhere.json', 'nowhere.json cannot be read'],
    ['', fileWith('list.json', '[1]'), 'list.json holds no prices'],
    ['', fileWith('null.json', 'null'), 'null.json holds no prices'],
    ['', fileWith('broken.json', '{"log_gb":'), 'broken.json is not JSON'],
    ['', fileWith('text.json', '{"log_gb": "3"}'), 'log_gb in'],
    ['', fileWith('minus.json', '{"log_gb": -3}'), 'log_gb in'],
    ['', fileWith('typo.json', '{"log_gbs": 3}'), "log_gbs is not a price; did you mean 'log_gb'?"],
  ])('refuse %j and %j', (text, file, message) => {
    const answer = readPrices(text, file);
    expect(answer.ok ? '' : answer.error.message).toContain(message);
  });
});
