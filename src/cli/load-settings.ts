import type { Advice } from '../core/advice.ts';
import { err, ok, type Result } from '../core/result.ts';
import { docPath } from './package-facts.ts';
import { readConfigFile } from './settings/config-file.ts';
import { type GivenSetting, type ResolvedSettings, resolveSettings } from './settings/resolve.ts';
import type { Settings } from '../settings/schema.ts';

/** The settings of a command in this folder and environment. */
export async function loadSettings(
  flags: readonly GivenSetting[],
  commandDefaults: Partial<Settings>,
): Promise<Result<ResolvedSettings, Advice>> {
  const file = await readConfigFile(process.cwd());
  if (!file.ok) return file;
  const resolved = resolveSettings({ flags, environment: process.env, file: file.value, commandDefaults });
  if (resolved.ok) return ok(resolved.value);
  const [first = '', ...others] = resolved.error;
  return err({ message: first, next: [...others, `All settings: ${docPath('settings.md')}.`].join('\n') });
}
