import { readFileSync } from 'node:fs';
import { err, ok, type Result } from '../../../core/result.ts';
import { isLocal, isSocket } from './address.ts';

/** `false`: nothing is encrypted. Otherwise what TLS is told; certificates are PEM texts. */
export type Tls =
  | false
  | {
      readonly rejectUnauthorized: boolean;
      readonly ca?: string;
      readonly cert?: string;
      readonly key?: string;
    };

/** Parameters of the address that are read here; the library would read some of them in another sense. */
export const TLS_PARAMETERS = [
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'uselibpqcompat',
] as const;

const OFF: ReadonlySet<string> = new Set(['disable', 'false', '0']);
const UNVERIFIED: ReadonlySet<string> = new Set(['no-verify']);
/** More than libpq promises for the weaker ones: whoever asks for encryption wants to know with whom. */
const VERIFIED: ReadonlySet<string> = new Set([
  'verify-full',
  'verify-ca',
  'require',
  'prefer',
  'allow',
  'true',
  '1',
]);

export interface TlsSettings {
  /** Certificates of authorities that are trusted instead of those of Node: PEM text, or the path of such a file. */
  readonly ca?: string;
  /** `PGSSLMODE`: counts where the address says nothing. */
  readonly mode?: string;
}

/**
 * How the connection to this address is protected. `sslmode` of the address comes first, then `PGSSLMODE`. Where neither
 * says anything, a connection that leaves the machine is encrypted and the certificate verified.
 *
 * @returns An error in words when the mode is unknown or a file cannot be read.
 */
export function tlsOf(url: URL, settings: TlsSettings): Result<Tls, string> {
  if (isSocket(url)) return ok(false);
  const { searchParams } = url;
  const given = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? settings.mode ?? '';
  const rootFile = searchParams.get('sslrootcert') ?? settings.ca ?? '';
  const mode = given !== '' ? given : isLocal(url) && rootFile === '' ? 'disable' : 'verify-full';
  if (OFF.has(mode)) return ok(false);
  if (!VERIFIED.has(mode) && !UNVERIFIED.has(mode)) {
    return err(
      'sslmode of STEPWELL_DATABASE_URL is not known; write verify-full, require, no-verify or disable',
    );
  }
  const rejectUnauthorized = VERIFIED.has(mode);
  const files = readCertificates({
    // libpq's word for the authorities of the system.
    ca: rootFile === 'system' ? '' : rootFile,
    cert: searchParams.get('sslcert') ?? '',
    key: searchParams.get('sslkey') ?? '',
  });
  return files.ok ? ok({ rejectUnauthorized, ...files.value }) : files;
}

type Certificates = Readonly<Record<'ca' | 'cert' | 'key', string>>;

function readCertificates(sources: Certificates): Result<Partial<Certificates>, string> {
  const read: Partial<Record<keyof Certificates, string>> = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    const source = sources[name];
    if (source === '') continue;
    const text = pemText(source);
    if (text === null) return err(UNREADABLE[name]);
    read[name] = text;
  }
  return ok(read);
}

const UNREADABLE: Certificates = {
  ca: 'the certificates of STEPWELL_DATABASE_CA (or sslrootcert) cannot be read; give PEM text, or the path of a PEM file',
  cert: 'sslcert of STEPWELL_DATABASE_URL cannot be read; give the path of a PEM file',
  key: 'sslkey of STEPWELL_DATABASE_URL cannot be read; give the path of a PEM file',
};

/** A text with certificates, be it the value itself (with `\n` for line feeds where a host takes one line) or a file. */
function pemText(source: string): string | null {
  if (source.includes('-----BEGIN')) return source.replaceAll(String.raw`\n`, '\n');
  try {
    const text = readFileSync(source, 'utf8');
    return text.includes('-----BEGIN') ? text : null;
  } catch {
    return null;
  }
}
