import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type LoaderProcess, startLoaderProcess } from './loader-process.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let loader: LoaderProcess;
beforeAll(async () => {
  loader = await startLoaderProcess();
});
afterAll(async () => await loader.stop());

/** A folder of a user; ends with the test. */
function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-load-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A handler without imports, as another copy of the SDK would make it. */
const plainHandler = (name: string, text: string) =>
  `{ [Symbol.for('stepwell.handler')]: true, name: '${name}', pure: true, defaults: {}, run: () => ${text} }`;

describe('loading a handlers file', () => {
  it('bundles TypeScript with its own files and leaves nothing behind', async () => {
    const folder = folderWith({
      'handlers.ts': `
        import { defineHandler } from ${JSON.stringify(fromRoot('src/sdk/handler.ts'))};
        import { tax } from './prices/tax.ts';
        import { twice } from "./prices/twice";
        export const gross = defineHandler('gross', { pure: true }, (input: { net: number }) => twice(input.net * tax));
        export default [defineHandler('later', {}, async () => 'done'), gross];`,
      'prices/tax.ts': 'export const tax: number = 1.5;',
      'prices/twice.ts': 'export function twice(value: number): number { return value * 2; }',
      'node_modules/left-alone/index.js': '',
    });
    // What the source of the SDK imports; users import the package, which brings it along.
    symlinkSync(fromRoot('node_modules/zod'), join(folder, 'node_modules/zod'));
    expect(await loader.load(join(folder, 'handlers.ts'))).toEqual({
      handlers: expect.arrayContaining([
        { name: 'gross', output: 30 },
        { name: 'later', output: 'done' },
      ]),
    });
    expect(readdirSync(folder).toSorted()).toEqual(['handlers.ts', 'node_modules', 'prices']);
  });

  it('finds packages as the file itself would, and does not bundle them', async () => {
    const folder = folderWith({
      'app/handlers.mts': `
        import { word } from 'a-package';
        export const one = ${plainHandler('one', '[word, import.meta.url, import.meta.dirname]')};`,
      'node_modules/a-package/package.json':
        '{"name": "a-package", "type": "module", "exports": "./index.js"}',
      'node_modules/a-package/index.js': 'export const word = import.meta.url;',
    });
    const output = [
      expect.stringMatching(/node_modules\/a-package\/index\.js$/),
      expect.stringMatching(/\/app\/handlers\.mts$/),
      join(folder, 'app'),
    ];
    const handlers = [{ name: 'one', output }];
    expect(await loader.load(join(folder, 'app/handlers.mts'))).toEqual({ handlers });
  });

  it.each(['handlers.mjs', 'handlers.js', 'handlers.ts', 'handlers.mts'])(
    'loads %s anew when its content has changed',
    async (name) => {
      const folder = folderWith({ 'package.json': '{"type": "module"}' });
      const file = join(folder, name);
      for (const text of ['old', 'new', 'old']) {
        writeFileSync(file, `export default ${plainHandler('one', `'${text}'`)};`);
        expect(await loader.load(file)).toEqual({ handlers: [{ name: 'one', output: text }] });
      }
    },
  );

  it.each([
    ['handlers.txt', 'export {};', /handlers\.txt is no handlers file/, /\.ts, \.mts, \.js or \.mjs/],
    [
      'handlers.ts',
      'export const = 1;',
      /cannot be compiled: .*handlers\.ts:1: Expected identifier/,
      /Correct/,
    ],
    ['handlers.ts', 'import "./missing.ts";', /cannot be compiled: .*Could not resolve/, /Correct/],
    ['handlers.mts', 'import "no-such-package";', /imports what cannot be found/, /Install the package/],
    ['handlers.ts', 'throw new Error("at the top");', /threw while it was loaded: at the top/, /top level/],
    ['handlers.mjs', 'throw "text";', /threw while it was loaded: text/, /top level/],
    ['handlers.mjs', 'export const = 1;', /syntax error/, /ES module/],
    [
      'handlers.mjs',
      'export const helper = 1;',
      /exports no handler/,
      /export const hello = defineHandler\(/,
    ],
    [
      'handlers.mjs',
      `export default ${plainHandler('sleep', '1')};`,
      /sleep is the name of a built-in/,
      /Rename/,
    ],
  ])('says what to do next about %s: %s', async (name, text, message, next) => {
    const folder = folderWith({ [name]: text });
    expect(await loader.load(join(folder, name))).toEqual({
      advice: { message: expect.stringMatching(message), next: expect.stringMatching(next) },
    });
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('says which file is missing', async () => {
    const file = join(folderWith({}), 'gone.ts');
    expect(await loader.load(file)).toMatchObject({ advice: { message: `${file} cannot be read` } });
  });
});
