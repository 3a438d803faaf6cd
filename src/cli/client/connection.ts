import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

/** Flags of every command that talks to a running server. */
export const connectionArgs = {
  url: { type: 'string', description: 'Address of the server.', default: 'http://127.0.0.1:8080' },
  tenant: { type: 'string', description: 'Tenant to act for.', default: 'default' },
  'api-key': { type: 'string', description: 'Key; without it STEPWELL_API_KEY.' },
  json: { type: 'boolean', description: 'Print the answer of the server as JSON.', default: false },
} as const;

interface ConnectionFlags {
  readonly url: string;
  readonly tenant: string;
  readonly 'api-key'?: string | undefined;
}

export function connect(flags: ConnectionFlags): Result<ApiClient, Advice> {
  if (!/^https?:\/\//.test(flags.url) || !URL.canParse(flags.url)) {
    return err({ message: '--url is no address', next: 'Write it as http://127.0.0.1:8080.' });
  }
  const key = flags['api-key'] ?? process.env['STEPWELL_API_KEY'];
  return ok(createApiClient({ url: flags.url, tenant: flags.tenant, apiKey: key === '' ? undefined : key }));
}
