import { nearestName } from '../../core/definition/did-you-mean.ts';
import { err, ok, type Result } from '../../core/result.ts';
import {
  environmentName,
  isSettingKey,
  type SettingKey,
  type Settings,
  settingKeys,
  settingsSchema,
} from '../../settings/schema.ts';
import { clashesIn, settingProblem } from '../../settings/rules.ts';
import { isOurs, unknownVariable } from '../../settings/unknown-names.ts';

/** A value somebody gave, and the name under which they gave it: `--port`, `STEPWELL_LEASE_MS`, `leaseMs in …`. */
export interface GivenSetting {
  readonly key: SettingKey;
  readonly name: string;
  readonly value: unknown;
}

export interface SettingSources {
  readonly flags: readonly GivenSetting[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: { readonly path: string; readonly values: Readonly<Record<string, unknown>> } | null;
  /** What the command decides unless somebody says otherwise, e.g. `dev` needs no root key. */
  readonly commandDefaults: Partial<Settings>;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  /** What somebody set; all else is a default. */
  readonly given: ReadonlySet<SettingKey>;
  /** Sentences for people; the process goes on. */
  readonly warnings: readonly string[];
}

/**
 * Flag, then environment, then config file, then default (RULINGS B19). The error is one sentence per bad value; it names
 * the setting and the kind of the value and never the value itself, which may be a secret in the wrong place.
 */
export function resolveSettings(sources: SettingSources): Result<ResolvedSettings, readonly string[]> {
  const file = fileSettings(sources.file);
  const environment = environmentSettings(sources.environment);
  const winners = new Map<SettingKey, GivenSetting>();
  for (const given of [...file.settings, ...environment.settings, ...sources.flags]) {
    winners.set(given.key, given);
  }
  const values = Object.fromEntries([...winners].map(([key, { value }]) => [key, value]));
  const parsed = settingsSchema.safeParse(values);
  if (!parsed.success) {
    return err(parsed.error.issues.map((issue) => problemText(winners, issue.path[0], issue.message)));
  }
  // What a command opens for callers without a key stays closed once there is one.
  const isKeyed = parsed.data.apiKey !== undefined;
  const defaults = Object.entries(sources.commandDefaults).filter(
    ([key]) => !Object.hasOwn(values, key) && !(isKeyed && key === 'requireTenantHeader'),
  );
  const settings = { ...parsed.data, ...Object.fromEntries(defaults) };
  const clashes = clashesIn(settings);
  if (clashes.length > 0) return err(clashes);
  return ok({
    settings,
    given: new Set(winners.keys()),
    warnings: [...file.warnings, ...environment.warnings],
  });
}

interface Collected {
  readonly settings: readonly GivenSetting[];
  readonly warnings: readonly string[];
}

/** An empty variable counts as absent: container files cannot leave one out. */
function environmentSettings(environment: SettingSources['environment']): Collected {
  const keyOf = new Map(settingKeys.map((key) => [environmentName(key), key]));
  const settings: GivenSetting[] = [];
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    const key = keyOf.get(name);
    if (key !== undefined && value !== undefined && value.trim() !== '') settings.push({ key, name, value });
    if (key === undefined && isOurs(name)) warnings.push(unknownVariable(name, [...keyOf.keys()]));
  }
  return { settings, warnings };
}

/** Keys in camel case, or the names of the environment. */
function fileSettings(file: SettingSources['file']): Collected {
  if (file === null) return { settings: [], warnings: [] };
  const keyOf = new Map(settingKeys.map((key) => [environmentName(key), key]));
  const settings: GivenSetting[] = [];
  const warnings: string[] = [];
  for (const [member, value] of Object.entries(file.values)) {
    const key = isSettingKey(member) ? member : keyOf.get(member);
    if (key === undefined) {
      const near = nearestName(member, settingKeys);
      const hint = near === undefined ? '' : ` Did you mean ${near}?`;
      warnings.push(`${member} in ${file.path} is not a setting and has no effect.${hint}`);
    } else if (value !== undefined && value !== null) {
      settings.push({ key, name: `${member} in ${file.path}`, value });
    }
  }
  return { settings, warnings };
}

function problemText(
  winners: ReadonlyMap<SettingKey, GivenSetting>,
  key: PropertyKey | undefined,
  expected: string,
): string {
  const given = typeof key === 'string' && isSettingKey(key) ? winners.get(key) : undefined;
  if (given === undefined) return `A setting must be ${expected}.`;
  return settingProblem(given.name, expected, given.value);
}
