import { readdirSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import entryPoints from '../../scripts/entry-points.json' with { type: 'json' };
import { type ConsumerProject, createConsumerProject } from './support/consumer-project.ts';
import { consumerSource } from './support/consumer-source.ts';

/** These tests look at dist/ as `npm run build` has left it. */
const names = Object.keys(entryPoints).filter((name) => name !== 'cli');
const specifierOf = (name: string) => (name === 'index' ? 'stepwell' : `stepwell/${name}`);

/** What the built file of an entry point imports from outside the package, its chunks included. */
async function importsOf(name: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [`dist/${name}.js`],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return [...new Set(imports.map(({ path }) => path))].sort();
}

describe('the built package', () => {
  let project: ConsumerProject;
  beforeAll(() => {
    project = createConsumerProject();
    project.write('use.ts', consumerSource);
  });
  afterAll(() => project.remove());

  it('can be imported under plain Node, every export of it', async () => {
    const load = (name: string) => `'${name}': Object.keys(await import('${specifierOf(name)}')).sort()`;
    // The component for sst extends a class of the configuration that it is used in; test/deploy looks at it.
    const loadable = names.filter((name) => name !== 'sst');
    project.write('load.js', `console.log(JSON.stringify({ ${loadable.map(load).join(', ')} }));`);
    const loaded = await project.node('load.js');
    expect(loaded).toEqual({ exitCode: 0, output: expect.stringMatching(/^\{/) });
    expect(JSON.parse(loaded.output)).toMatchObject({
      index: ['StepError', 'defineHandler', 'sequence', 'sequenceJsonSchema'],
      client: ['ApiError', 'createClient'],
      worker: ['ApiError', 'StepError', 'createClient', 'createWorker', 'defineHandler'],
      testing: ['ApiError', 'createTestEngine'],
      cloudflare: ['createCloudflareWorker'],
    });
  });

  it.each([
    ['client', []],
    ['handler', []],
    ['index', ['zod']],
    ['worker', []],
  ])('imports for %s no more than %j, and so no Node built-in', async (name, packages) => {
    expect(await importsOf(name)).toEqual(packages);
  });

  it('imports for cloudflare packages only', async () => {
    const builtins = (await importsOf('cloudflare')).filter((name) => isBuiltin(name));
    expect(builtins).toEqual([]);
  });

  it.each([
    ['of Node', { types: ['node'], lib: ['ES2023'] }],
    // The declarations of the package are looked at as well.
    ['of a browser', { types: [], lib: ['ES2023', 'DOM', 'DOM.Iterable'], skipLibCheck: false }],
    ['of a bundler', { types: ['node'], lib: ['ES2023'], module: 'esnext', moduleResolution: 'bundler' }],
  ])('type-checks in a project %s', async (_, options) => {
    expect(await project.typeCheck(['use.ts'], options)).toEqual({ exitCode: 0, output: '' });
  });

  it('has small declarations, which refer to each other instead of spelling out', () => {
    const paths = readdirSync('dist/types', { recursive: true, encoding: 'utf8' });
    const sizes = paths
      .filter((path) => path.endsWith('.d.ts'))
      .map((path) => [path, statSync(`dist/types/${path}`).size] as const);
    expect(sizes.filter(([, size]) => size > 128 * 1024)).toEqual([]);
  });
});
