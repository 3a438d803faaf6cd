import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { deploy } from './support/deployment.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let target: Server;
let answers: number[];
let received: number;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  target = createServer((_request, response) => {
    received += 1;
    response.writeHead(answers.shift() ?? 200).end();
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterAll(async () => {
  target.close();
  await neon.close();
  await sqs.stop();
});

it('outgoing webhooks are sent in the invocation that ended the run, and tried again by the sweep', async () => {
  const { port } = target.address() as AddressInfo;
  const app = await deploy(sqs, {
    environment: { STEPWELL_WEBHOOK_URLS: `http://127.0.0.1:${port}/`, STEPWELL_ALLOW_INTERNAL_URLS: '1' },
  });
  [received, answers] = [0, [200, 503]];
  await app.start([{ type: 'step', id: 'a', handler: 'noop' }]);
  await app.turns.drain();
  expect(received).toBe(1);
  await app.start([{ type: 'step', id: 'a', handler: 'noop' }]);
  await app.turns.drain();
  expect(received).toBe(2);
  // The next attempt is due after a moment; each sweep looks.
  await waitUntil('the second attempt', async () => {
    await app.sweep();
    return received === 3;
  });
  await app.close();
});
