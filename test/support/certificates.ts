import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An authority that nobody trusts yet, and a certificate of a server that it has signed. */
export interface Certificates {
  readonly caFile: string;
  readonly caText: string;
  /** What a PostgreSQL server is started with to speak TLS. */
  readonly serverSettings: Readonly<Record<string, string>>;
  remove(): void;
}

/** Made by openssl, which has to be there. `names` are those of the server, e.g. `DNS:db.example.com`. */
export function makeCertificates(names: string): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-certificates-'));
  const run = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  run('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Tests');
  run('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=server');
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
  const signedBy = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
  run('x509', '-req', '-in', 'server.csr', ...signedBy, '-days', '2', '-out', 'server.pem');
  giveToServer(folder);
  const caFile = join(folder, 'ca.pem');
  return {
    caFile,
    caText: readFileSync(caFile, 'utf8'),
    serverSettings: {
      ssl: 'on',
      ssl_cert_file: join(folder, 'server.pem'),
      ssl_key_file: join(folder, 'server.key'),
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A server takes no key that others may read, and does not run as root. */
function giveToServer(folder: string): void {
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'server.key'), 0o600);
  if (process.getuid?.() !== 0) return;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  for (const name of ['server.key', 'server.pem']) chownSync(join(folder, name), idOf('-u'), idOf('-g'));
}
