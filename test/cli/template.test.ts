import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  hasDatabase,
  loadTemplate,
  placeTemplate,
  type TemplateKind,
  templatePath,
} from '../../src/adapters/local/template.ts';
import { unpackTarGz } from '../../src/adapters/local/unpack-tar.ts';

let archive: Uint8Array;
let root: string;

beforeAll(async () => {
  const db = await PGlite.create();
  await db.exec('CREATE TABLE greeting AS SELECT $$hello$$ AS word');
  archive = new Uint8Array(await (await db.dumpDataDir('gzip')).arrayBuffer());
  await db.close();
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepwell-template-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function kind(...ingredients: string[]): TemplateKind {
  return { folder: join(root, 'dist'), ingredients, build: async () => archive };
}

describe('the template database', () => {
  it('is built once with a notice and taken as it is afterwards', async () => {
    const notices: string[] = [];
    const first = await loadTemplate(kind('a'), () => notices.push('built'));
    const second = await loadTemplate(kind('a'), () => notices.push('built'));
    expect([first.origin, second.origin, notices]).toEqual(['built', 'shipped', ['built']]);
    expect(Buffer.from(second.archive).equals(archive)).toBe(true);
  });

  it('is built anew when an ingredient changes, and the old one goes', async () => {
    await loadTemplate(kind('a', 'b'), () => {});
    expect(templatePath(kind('ab'))).not.toBe(templatePath(kind('a', 'b')));
    const other = await loadTemplate(kind('ab'), () => {});
    expect(other.origin).toBe('built');
    expect(readdirSync(join(root, 'dist'))).toEqual([expect.stringMatching(/^template-/)]);
  });

  it('is used also where it cannot be kept', async () => {
    writeFileSync(join(root, 'dist'), 'a file where the folder should be');
    expect((await loadTemplate(kind('a'), () => {})).origin).toBe('built');
  });

  it('becomes a database that opens with its tables', async () => {
    const path = join(root, 'database');
    placeTemplate({ archive, origin: 'shipped' }, path);
    expect(hasDatabase(path)).toBe(true);
    const db = await PGlite.create(path);
    expect((await db.query('SELECT word FROM greeting')).rows).toEqual([{ word: 'hello' }]);
    await db.close();
  });

  it('takes the place of a draft that a dead process left', () => {
    const path = join(root, 'database');
    mkdirSync(`${path}.new/base`, { recursive: true });
    expect(hasDatabase(path)).toBe(false);
    placeTemplate({ archive, origin: 'shipped' }, path);
    expect(hasDatabase(path)).toBe(true);
    expect(readdirSync(root)).toEqual(['database']);
  });
});

describe('unpackTarGz', () => {
  it('refuses an archive that ends in the middle', () => {
    const tar = gunzipSync(archive);
    const cut = gzipSync(tar.subarray(0, tar.length - 4096 - 1024), { level: 1 });
    expect(() => unpackTarGz(cut, join(root, 'out'))).toThrow('ends in the middle');
  });

  it('keeps every entry inside the folder', () => {
    const header = Buffer.alloc(512);
    header.write('../../escaped', 0);
    header.write('00000000002\0', 124);
    header.write('0', 156);
    const body = Buffer.alloc(512);
    body.write('hi');
    unpackTarGz(gzipSync(Buffer.concat([header, body, Buffer.alloc(1024)])), join(root, 'out'));
    expect(readFileSync(join(root, 'out', 'escaped'), 'utf8')).toBe('hi');
  });
});
