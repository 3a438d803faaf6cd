import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { gunzipSync } from 'node:zlib';

const BLOCK_BYTES = 512;
const FILE = new Set(['0', '']);
const FOLDER = '5';

/**
 * Unpacks a gzipped tar archive of plain files and folders into `folder`. PGlite can load such an archive itself, but
 * then a process that dies halfway leaves a database folder that looks complete; we unpack beside it and rename.
 * Throws on anything that a database template does not have: links, long names, paths that lead out.
 */
export function unpackTarGz(archive: Uint8Array, folder: string): void {
  const tar = gunzipSync(archive);
  const made = new Set<string>();
  const makeFolder = (path: string): void => {
    if (made.has(path)) return;
    // PostgreSQL refuses a data folder that others may read.
    mkdirSync(path, { recursive: true, mode: 0o700 });
    made.add(path);
  };
  makeFolder(folder);
  let offset = 0;
  while (offset + BLOCK_BYTES <= tar.length && tar[offset] !== 0) {
    const header = tar.subarray(offset, offset + BLOCK_BYTES);
    const size = sizeOf(header);
    const path = pathInside(folder, header);
    const kind = textAt(header, 156, 157);
    offset += BLOCK_BYTES;
    if (kind === FOLDER) makeFolder(path);
    else if (FILE.has(kind)) {
      makeFolder(dirname(path));
      writeFileSync(path, tar.subarray(offset, offset + size), { mode: 0o600 });
    } else throw new Error(`the archive has an entry of the unknown kind ${kind}`);
    offset += Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  if (offset + BLOCK_BYTES > tar.length) throw new Error('the archive ends in the middle');
}

function pathInside(folder: string, header: Uint8Array): string {
  const prefix = textAt(header, 345, 500);
  const name = normalize(`/${prefix}/${textAt(header, 0, 100)}`);
  return join(folder, name);
}

function sizeOf(header: Uint8Array): number {
  const octal = textAt(header, 124, 136).trim();
  if (!/^[0-7]*$/.test(octal)) throw new Error('the archive is damaged');
  return octal === '' ? 0 : Number.parseInt(octal, 8);
}

function textAt(header: Uint8Array, from: number, to: number): string {
  const field = header.subarray(from, to);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
}
