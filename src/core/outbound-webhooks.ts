import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { hmacSha256, hmacSha256OfKey } from './digest.ts';
import { encodeBase64 } from './expressions/base64.ts';
import { err, ok, type Result } from './result.ts';
import { standardKey } from './webhook-schemes.ts';

type Headers = ReadonlyArray<readonly [string, string]>;

/**
 * The headers of an outgoing webhook: id and time always; with a secret two signatures over the same body, ours
 * (`sha256=<hex>` over `<timestamp>.<body>`, http-api.md 21.1) and that of Standard Webhooks (`v1,<base64>` over
 * `<id>.<timestamp>.<body>`). The key of the latter is the base64 content of the secret, as its libraries read it; a secret
 * that is no base64 is taken as it is. An error for a `whsec_` secret that is no base64: no receiver could verify it.
 */
export function webhookHeaders(
  secret: string | null,
  message: { readonly id: string; readonly timestampSecs: number; readonly body: string },
): Result<Headers, string> {
  const { id, body } = message;
  const timestamp = String(message.timestampSecs);
  const plain: Headers = [
    ['Content-Type', 'application/json'],
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
  ];
  if (secret === null) return ok(plain);
  const decoded = standardKey(secret);
  if (decoded === undefined && secret.startsWith('whsec_')) {
    return err('the secret begins with whsec_, but the rest is no base64');
  }
  const own = hmacSha256(secret, utf8ToBytes(`${timestamp}.${body}`));
  const standard = hmacSha256OfKey(decoded ?? utf8ToBytes(secret), utf8ToBytes(`${id}.${timestamp}.${body}`));
  return ok([
    ...plain,
    ['webhook-signature', `v1,${String.fromCharCode(...encodeBase64(standard))}`],
    ['X-Orch8-Timestamp', timestamp],
    ['X-Orch8-Signature', `sha256=${bytesToHex(own)}`],
  ]);
}
