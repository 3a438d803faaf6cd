import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfigFile } from '../../src/cli/settings/config-file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwell-config-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function read(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return readConfigFile(folder);
}

describe('the config file', () => {
  it('is not needed', async () => {
    expect(await read({})).toEqual({ ok: true, value: null });
  });

  it('is read as JSON', async () => {
    expect(await read({ 'stepwell.config.json': '{"leaseMs": 5000}' })).toEqual({
      ok: true,
      value: { path: 'stepwell.config.json', values: { leaseMs: 5000 } },
    });
  });

  it('is read as TypeScript and leaves nothing behind', async () => {
    const text = 'const lease: number = 5 * 1000;\nexport default { leaseMs: lease };\n';
    const result = await read({ 'stepwell.config.ts': text });
    expect(result).toMatchObject({ ok: true, value: { values: { leaseMs: 5000 } } });
    expect(readdirSync(folder)).toEqual(['stepwell.config.ts']);
  });

  it.each([
    [{ 'stepwell.config.json': '{' }, 'cannot be read'],
    [{ 'stepwell.config.json': '[]' }, 'does not hold settings'],
    [{ 'stepwell.config.ts': 'export const leaseMs = 1;' }, 'does not hold settings'],
    [{ 'stepwell.config.ts': 'export default {' }, 'cannot be compiled'],
    [{ 'stepwell.config.ts': 'export default {};', 'stepwell.config.json': '{}' }, 'there are'],
  ])('is refused with advice: %j', async (files, message) => {
    const result = await read(files as Record<string, string>);
    expect(result.ok ? '' : result.error.message).toContain(message);
    expect(result.ok ? '' : result.error.next).not.toBe('');
  });
});
