import {
  environmentName,
  type SettingKey,
  type Settings,
  settingKeys,
  settingsSchema,
} from '../../settings/schema.ts';

/** A setting as the documentation and `stepwell settings` show it. */
export interface SettingRow {
  /** Name in the environment. */
  readonly name: string;
  /** Name in the config file. */
  readonly key: SettingKey;
  /** What it takes, as the error for a bad value says. */
  readonly takes: string;
  readonly standard: string;
  readonly about: string;
}

/** All settings in the order of the schema. Their values are not shown: some are secrets. */
export function describeSettings(): readonly SettingRow[] {
  const standards = settingsSchema.parse({});
  return settingKeys.map((key) => ({
    name: environmentName(key),
    key,
    takes: expectedOf(key),
    standard: shown(standards[key]),
    about: settingsSchema.shape[key].description ?? '',
  }));
}

/** A symbol fits no setting, so the issue's message is the noun phrase of what is expected. */
function expectedOf(key: SettingKey): string {
  const parsed = settingsSchema.shape[key].safeParse(Symbol('no value'));
  return parsed.error?.issues[0]?.message ?? '';
}

function shown(value: Settings[SettingKey]): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return String(value);
  const parts = new Map<string, unknown>(Object.entries(value));
  const [host, port, folder] = ['host', 'port', 'folder'].map((part) => parts.get(part));
  if (typeof host === 'string' && typeof port === 'number') return `${host}:${port}`;
  return typeof folder === 'string' ? `pglite:${folder}` : '';
}

/** A row of the table in docs/settings.md. */
export function markdownRow({ name, standard, about }: SettingRow): string {
  return `| \`${name}\` | ${standard === '' ? '' : `\`${standard}\``} | ${about} |`;
}
