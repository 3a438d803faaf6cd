import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PLATFORM, ROOT } from './support/tools.ts';

/** Each line is a mistake that a user could make, with what the compiler says about it. */
const MISTAKES = [
  ["new sst.aws.Queue('Q', { visibilityTimeuot: '1 minute' });", 'visibilityTimeuot'],
  ["new Stepwell('W', { handler: './handlers.ts' });", 'handler'],
  ["new Stepwell('W', { mode: 'eco' });", 'eco'],
  ["new Stepwell('W', { database: { url: 5 } });", 'number'],
] as const;

/** Checks sst.config.ts, infra/, the template and a file of mistakes against the types of sst. Answers what is wrong. */
async function problems(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/stepwell-types-'));
  try {
    const lines = MISTAKES.map(([line]) => line).join('\n');
    writeFileSync(join(folder, 'mistakes.ts'), `import { Stepwell } from 'stepwell/sst';\n${lines}\n`);
    const options = {
      extends: join(ROOT, 'infra/tsconfig.json'),
      compilerOptions: {
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
        paths: { 'stepwell/sst': [join(ROOT, 'infra/component.ts')] },
      },
      include: [
        join(PLATFORM, 'config.d.ts'),
        join(ROOT, 'sst.config.ts'),
        join(ROOT, 'infra/*.ts'),
        join(ROOT, 'examples/deploy-aws/sst.config.ts'),
        './mistakes.ts',
      ],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const checked = promisify(execFile)(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder });
    const text = await checked.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    // The template names sst's types where they are in a project of its own.
    return text
      .split('\n')
      .filter((line) => /^\S.*error TS/.test(line) && !line.includes('.sst/platform/config.d.ts'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the types of sst', () => {
  it('fit our configuration, our component and the template, and show every mistake', async () => {
    const found = await problems();
    const expected = MISTAKES.map(([, word], index) =>
      expect.stringMatching(new RegExp(`mistakes\\.ts\\(${index + 2},.*${word}`)),
    );
    expect(found).toEqual(expected);
  });
});
