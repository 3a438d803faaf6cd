import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Flags of every command that talks to a running server. */
export const connectionArgs = {
  url: { type: 'string', valueHint: 'url', description: 'Address of the server.', default: DEFAULT_URL },
  tenant: { type: 'string', valueHint: 'name', description: 'Tenant to act for.', default: 'default' },
  'api-key': { type: 'string', valueHint: 'key', description: 'API key. (default: STEPWELL_API_KEY)' },
  json: { type: 'boolean', description: 'Print what the server answers, as JSON.', default: false },
} as const;

interface ConnectionFlags {
  readonly url: string;
  readonly tenant: string;
  readonly 'api-key'?: string | undefined;
}

/** A command to copy and run next: it goes to the same server. */
export function nextCommand(command: string, url: string): string {
  return `npx stepwell ${command}${url === DEFAULT_URL ? '' : ` --url ${url}`}`;
}

export function connect(flags: ConnectionFlags): Result<ApiClient, Advice> {
  if (!/^https?:\/\//.test(flags.url) || !URL.canParse(flags.url)) {
    return err({ message: '--url is no address', next: 'Write it as http://127.0.0.1:8080.' });
  }
  const key = flags['api-key'] ?? process.env['STEPWELL_API_KEY'];
  // The start screen shows the address with the prefix, so people copy it like that.
  const url = flags.url.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return ok(createApiClient({ url, tenant: flags.tenant, apiKey: key === '' ? undefined : key }));
}
