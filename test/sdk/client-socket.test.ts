import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ListeningServer, listen } from '../../src/adapters/node-server/listen.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { createClient } from '../../src/sdk/client.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import { sequence } from '../../src/sdk/sequence.ts';
import { createWorker } from '../../src/sdk/worker.ts';
import { manualClock } from '../http-client/manual-clock.ts';
import { createWorld, type SdkWorld } from './support/world.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of cleanUp.splice(0)) await stop();
});

/** The real API of a world on a real socket. */
async function serve(world: SdkWorld): Promise<string> {
  const listening = await listen(world.app, { host: '127.0.0.1', port: 0, clock: systemClock });
  if (!listening.ok) throw new Error(listening.error.message);
  const server: ListeningServer = listening.value;
  cleanUp.push(() => server.close(0));
  return `http://127.0.0.1:${server.port}`;
}

/** A server of another kind. */
async function serveWith(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}

const parcel = sequence({
  name: 'parcel',
  blocks: [
    { type: 'step', id: 'weigh', handler: 'weigh', params: { no: '{{data.no}}' }, timeout: 60_000 },
    { type: 'step', id: 'route', handler: 'route', params: { kg: '{{outputs.weigh.kg}}' } },
  ],
});

describe('over a socket', () => {
  it('client and worker carry an instance from its start to its end', async () => {
    const world = createWorld();
    const client = createClient({ url: await serve(world) });
    await client.sequences.publish(parcel);
    const { id } = await client.instances.start({
      sequence_name: 'parcel',
      context: { data: { no: 'PX-9' } },
    });
    let tellDone = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      tellDone = resolve;
    });
    const weigh = defineHandler('weigh', {}, (_input, ctx) => {
      ctx.log.info('on the scales');
      return { kg: 3 };
    });
    const route = (input: unknown) => {
      tellDone();
      return { lane: 'north', input };
    };
    const worker = createWorker({ client, handlers: [weigh], functions: { route }, workerId: 'w-lisbon' });
    worker.start();
    await done;
    expect(await worker.stop()).toBe(0);
    expect(await client.instances.get(id)).toMatchObject({ state: 'completed' });
    expect((await client.instances.outputs(id)).map(({ output }) => output)).toEqual([
      { kg: 3 },
      { lane: 'north', input: { kg: 3 } },
    ]);
    expect(await client.instances.logs(id)).toMatchObject([{ block_id: 'weigh', message: 'on the scales' }]);
    expect(await client.tasks.workers()).toMatchObject([
      { worker_id: 'w-lisbon', handlers: ['route', 'weigh'] },
    ]);
  });

  it('a server that is not there is no answer', async () => {
    const { url, server } = await serveWith(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    const client = createClient({ url, maxTries: 1 });
    await expect(client.triggers.list()).rejects.toMatchObject({ status: 0, code: 'no_answer' });
  });

  it('an answer that does not come in time is cut off', async () => {
    const clock = manualClock();
    const { url } = await serveWith((_request, response) => {
      // The head arrives, the body never does: the limit counts for both.
      response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      clock.fire();
    });
    const client = createClient({ url, maxTries: 1, timeoutMs: 1234, clock });
    const error: unknown = await client.triggers.list().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 0, code: 'timeout' });
    expect(String(error)).toMatch(/^ApiError: GET http:\S+: no answer within 1234 ms$/);
    expect(clock.waiting()).toEqual([]);
  });

  it('the signal of the caller ends a call with its own reason', async () => {
    const controller = new AbortController();
    const reason = new Error('nobody needs it any more');
    const { url } = await serveWith(() => controller.abort(reason));
    const clock = manualClock();
    const client = createClient({ url, clock });
    await expect(client.triggers.list({}, { signal: controller.signal })).rejects.toBe(reason);
    expect(clock.waiting()).toEqual([]);
    await expect(client.triggers.list({}, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('the signal of the caller ends a pause between two tries', async () => {
    const controller = new AbortController();
    const clock = manualClock();
    const { url } = await serveWith((_request, response) => {
      response.writeHead(503).end();
    });
    const reason = new Error('nobody needs it any more');
    const pausing = {
      ...clock,
      after: (ms: number, callback: () => void) => {
        if (ms < 1000) controller.abort(reason);
        return clock.after(ms, callback);
      },
    };
    const client = createClient({ url, clock: pausing });
    await expect(client.triggers.list({}, { signal: controller.signal })).rejects.toBe(reason);
    expect(clock.waiting()).toEqual([]);
  });

  it('a redirect is not followed, and the key stays here', async () => {
    const visits: string[] = [];
    const { url: elsewhere } = await serveWith((_request, response) => {
      visits.push('elsewhere');
      response.end();
    });
    const { url } = await serveWith((_request, response) => {
      response.writeHead(307, { location: elsewhere }).end();
    });
    const client = createClient({ url, apiKey: 'secret' });
    await expect(client.triggers.list()).rejects.toMatchObject({ status: 307, code: 'unexpected_answer' });
    expect(visits).toEqual([]);
  });
});
