import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { importBundled } from '../../adapters/local/import-bundled.ts';
import type { SettingSources } from './resolve.ts';

const NAMES = ['stepwell.config.ts', 'stepwell.config.json'] as const;

/** The settings in the folder's config file: the default export of the TypeScript file, or the JSON object. */
export async function readConfigFile(folder: string): Promise<Result<SettingSources['file'], Advice>> {
  const [name, other] = NAMES.filter((candidate) => existsSync(join(folder, candidate)));
  if (name === undefined) return ok(null);
  if (other !== undefined) {
    return err({ message: `there are ${name} and ${other}`, next: 'Keep one of the two.' });
  }
  const path = join(folder, name);
  const content = name.endsWith('.json') ? readJson(path, name) : await readDefaultExport(path);
  if (!content.ok) return content;
  if (!isRecord(content.value)) {
    const what = name.endsWith('.json') ? 'be one JSON object' : 'export an object as its default';
    return err({
      message: `${name} does not hold settings`,
      next: `It must ${what}, such as { leaseMs: 30000 }.`,
    });
  }
  return ok({ path: name, values: content.value });
}

function readJson(path: string, name: string): Result<unknown, Advice> {
  try {
    return ok(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return err({ message: `${name} cannot be read: ${reason}`, next: 'Correct it.' });
  }
}

async function readDefaultExport(path: string): Promise<Result<unknown, Advice>> {
  const module = await importBundled(path);
  if (!module.ok) return module;
  return ok('default' in module.value ? module.value.default : undefined);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
