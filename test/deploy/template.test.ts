import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { stageSettings } from '../../infra/stage.ts';
import { ALARM_NAMES } from './support/alarm-rules.ts';
import { ROOT } from './support/tools.ts';

const Config = z.object({
  default: z.object({
    app: z.function({
      input: [z.object({ stage: z.string() })],
      output: z.looseObject({ protect: z.boolean(), removal: z.string() }),
    }),
  }),
});

describe('the template of a project on AWS', () => {
  beforeAll(() => vi.stubGlobal('$config', (config: unknown) => config));
  afterAll(() => {
    vi.unstubAllGlobals();
  });

  it.each(['production', 'prod', 'test', 'Production', 'prod-2'])(
    'protects the stage %s where the component has the settings of production for it',
    async (stage) => {
      const file = pathToFileURL(join(ROOT, 'examples/deploy-aws/sst.config.ts')).href;
      const { app } = Config.parse(await import(file)).default;
      const { isProtected } = stageSettings(stage);
      expect(app({ stage })).toMatchObject({
        protect: isProtected,
        removal: isProtected ? 'retain' : 'remove',
      });
      expect(isProtected).toBe(['production', 'prod'].includes(stage));
    },
  );
});

describe('docs/deploy-aws.md', () => {
  it('has every alarm in its table, and no other', () => {
    const doc = readFileSync(join(ROOT, 'docs/deploy-aws.md'), 'utf8');
    const table = doc.slice(
      doc.indexOf('| Alarm | Goes off when |'),
      doc.indexOf('Whoever is told that one'),
    );
    const cells = table.split('\n').map((line) => line.split('|')[1] ?? '');
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named).toHaveLength(ALARM_NAMES.length);
    expect(new Set(named)).toEqual(new Set(ALARM_NAMES));
  });
});
