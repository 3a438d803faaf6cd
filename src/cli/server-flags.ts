import type { Advice } from '../core/advice.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { GivenSetting } from './settings/resolve.ts';
import type { SettingKey, Settings } from '../settings/schema.ts';

/** Flags of `dev` and `serve`. Each stands for a setting; the rest is set by the environment or a config file. */
export const serverArgs = {
  port: {
    type: 'string',
    valueHint: 'number',
    description: 'Port to listen on; 0: any free one. (default: 8080)',
  },
  data: {
    type: 'string',
    valueHint: 'folder',
    description: 'Folder of the database. (default: ./.stepwell)',
  },
  handlers: { type: 'string', valueHint: 'file', description: 'File with your own handlers (.ts or .js).' },
  'tick-ms': {
    type: 'string',
    valueHint: 'ms',
    description: "How often to look for other processes' work. (default: 100)",
  },
  'cron-tick-secs': {
    type: 'string',
    valueHint: 'secs',
    description: 'How often to check schedules. (default: 10)',
  },
  json: { type: 'boolean', description: 'Print one JSON object per line.', default: false },
  quiet: { type: 'boolean', description: 'Print warnings and errors only.', default: false },
} as const;

export interface ServerFlags {
  readonly port?: string | undefined;
  readonly data?: string | undefined;
  readonly handlers?: string | undefined;
  readonly 'tick-ms'?: string | undefined;
  readonly 'cron-tick-secs'?: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** All flags but `--port`, which is only a part of a setting. */
export function settingsOfFlags(flags: ServerFlags): readonly GivenSetting[] {
  const given = (key: SettingKey, name: string, value: string | undefined): GivenSetting[] =>
    value === undefined ? [] : [{ key, name, value }];
  return [
    ...given('databaseUrl', '--data', flags.data === undefined ? undefined : `pglite:${flags.data}`),
    ...given('handlers', '--handlers', flags.handlers),
    ...given('tickIntervalMs', '--tick-ms', flags['tick-ms']),
    ...given('cronTickSecs', '--cron-tick-secs', flags['cron-tick-secs']),
    ...(flags.json ? given('logJson', '--json', 'true') : []),
    ...(flags.quiet ? given('logLevel', '--quiet', 'warn') : []),
  ];
}

/** `--port` replaces the port of the listen address and leaves its host. */
export function withPort(settings: Settings, port: string | undefined): Result<Settings, Advice> {
  if (port === undefined) return ok(settings);
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535) {
    return err({ message: '--port must be a whole number from 0 to 65535', next: 'Such as --port 9000.' });
  }
  return ok({ ...settings, httpAddr: { ...settings.httpAddr, port: Number(port) } });
}
