import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DEFAULTS } from '../../src/cli/cost/assumptions.ts';
import { explainNumbers } from '../../src/cli/cost/explain-numbers.ts';
import { PRICES } from '../../src/cli/cost/prices.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DOC = readFileSync(resolve(ROOT, 'docs/cost.md'), 'utf8');

async function cost(...args: readonly string[]) {
  const program = resolve(ROOT, 'src/cli/main.ts');
  const run = promisify(execFile)(resolve(ROOT, 'node_modules/.bin/tsx'), [program, 'cost', ...args]);
  return run.then(
    ({ stdout }) => ({ out: stdout, error: '' }),
    (error: { stdout: string; stderr: string }) => ({ out: error.stdout, error: error.stderr }),
  );
}

describe('docs/cost.md', () => {
  const shown = [...DOC.matchAll(/```console\n\$ npx stepwell cost(.*)\n([\s\S]*?)```/g)];

  it('shows four calls', () => {
    expect(shown).toHaveLength(4);
  });

  it.each(shown.map(([, args = '', text = '']) => [args.trim(), text] as const))(
    'shows what `stepwell cost %s` answers',
    async (args, text) => {
      const { out, error } = await cost(...args.split(' ').filter((arg) => arg !== ''));
      expect(error).toBe('');
      // What it rests on stands below in tables of its own.
      expect(`${out.slice(0, out.indexOf('\nAssumed;'))}`).toBe(text);
    },
  );

  it('holds the tables of all flags and prices, as `stepwell cost --explain` prints them', () => {
    expect(DOC).toContain(explainNumbers().join('\n'));
  });
});

describe('stepwell cost', () => {
  it('answers JSON with all that it went by', async () => {
    const { out } = await cost('--json', '--price', 'neon_unit_hour=0, alarm_month=7', '--waits=2');
    expect(JSON.parse(out)).toMatchObject({
      estimates: [{ host: 'aws', mode: 'economy', notes: expect.any(Array) }],
      workload: { ...DEFAULTS, waits: 2, arrival: 'spread', stepsPerTurn: null, freeTiers: false },
      prices: {
        neon_unit_hour: { dollars: 0, from: 'given' },
        alarm_month: { dollars: 7, from: 'given' },
        log_gb: PRICES.log_gb,
      },
    });
  });

  it('compares both hosts and both modes, or those of the host that is named', async () => {
    const places = async (...args: readonly string[]): Promise<unknown> => {
      const answer: { readonly estimates: readonly { host: string; mode: string }[] } = JSON.parse(
        (await cost('--compare', '--json', ...args)).out,
      );
      return answer.estimates.map(({ host, mode }) => `${host} ${mode}`);
    };
    expect(await places()).toEqual(['aws economy', 'aws steady', 'cloudflare economy', 'cloudflare steady']);
    expect(await places('--host', 'cloudflare')).toEqual(['cloudflare economy', 'cloudflare steady']);
  });

  it.each([
    [['--runs', '-5'], '--runs must be a number from 0 to 1,000,000,000,000 a month, not -5'],
    [['--runs='], '--runs must be a number from 0'],
    [['--step-mss', '3'], 'Did you mean --step-ms?'],
    [['--price', 'neon_unit_hours=1'], "did you mean 'neon_unit_hour'?"],
  ])('refuses %j', async (args, message) => {
    const { out, error } = await cost(...args);
    expect(error).toContain(message);
    expect(out).toBe('');
  });
});
