import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ListeningServer, listen } from '../../src/adapters/node-server/listen.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { type ConsumerProject, createConsumerProject } from './support/consumer-project.ts';
import { createWorld } from './support/world.ts';

/** The snippets of docs/sdk.md by the name in their first line; they are built against dist/, as a reader would. */
const snippets = new Map(
  [...readFileSync('docs/sdk.md', 'utf8').matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)].map(
    ([, name = '', text = '']) => [name, text] as const,
  ),
);

describe('the snippets of docs/sdk.md', () => {
  const world = createWorld();
  let project: ConsumerProject;
  let server: ListeningServer;

  beforeAll(async () => {
    project = createConsumerProject();
    const listening = await listen(world.app, { host: '127.0.0.1', port: 0, clock: systemClock });
    if (!listening.ok) throw new Error(listening.error.message);
    server = listening.value;
    for (const [name, text] of snippets) {
      const here = text.replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`);
      project.write(name, here);
      const { code } = await transform(here, { loader: 'ts', format: 'esm', target: 'node20' });
      project.write(name.replace(/ts$/, 'js'), code);
    }
  });
  afterAll(async () => {
    project.remove();
    await server.close(0);
  });

  it('are all named', () => {
    const count = readFileSync('docs/sdk.md', 'utf8').split('```ts\n').length - 1;
    expect(snippets.size).toBe(count);
  });

  it('type-check', async () => {
    const checked = await project.typeCheck([...snippets.keys()], { types: ['node'], lib: ['ES2023'] });
    expect(checked).toEqual({ exitCode: 0, output: '' });
  });

  it.each(['order.test.js', 'charge.test.js'])('pass as tests: %s', async (name) => {
    const passed = { exitCode: 0, output: expect.stringMatching(/pass 1\b/) };
    expect(await project.node(name)).toEqual(passed);
  });

  it('carry an order from the shop to the worker', async () => {
    const shown = { exitCode: 0, output: expect.stringContaining('waits for a worker') };
    expect(await project.node('shop.js')).toEqual(shown);
    const [instance] = (await world.client.instances.list()).items;
    const completed = new Promise<void>((resolve) => {
      world.engine.runner.onTurnEnd((_claim, end) => {
        if (end.kind === 'settled') resolve();
      });
    });
    const worker = project.start('worker.js');
    await Promise.race([completed, worker.ended]);
    worker.kill('SIGTERM');
    expect(await worker.ended).toEqual({ exitCode: 0, output: '' });
    expect(await world.client.instances.get(instance?.id ?? '')).toMatchObject({ state: 'completed' });
    const outputs = await world.client.instances.outputs(instance?.id ?? '');
    expect(outputs.at(-1)).toMatchObject({ output: { label: expect.stringMatching(/^lamp, /) } });
  });
});
