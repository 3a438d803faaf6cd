import { describe, expect, it } from 'vitest';
import type { QueueSend } from '../../../src/adapters/cloudflare/bindings.ts';
import { createTurnQueue } from '../../../src/adapters/cloudflare/turn-queue.ts';
import { createLog, systemClock } from '../../../src/adapters/system.ts';
import { decodeHintMessage } from '../../../src/core/hint-message.ts';

function queueUnderTest(accepts = true) {
  const batches: QueueSend[][] = [];
  const logged: string[] = [];
  const binding = {
    sendBatch: async (messages: Iterable<QueueSend>) => {
      if (!accepts) throw new Error('Queue is overloaded');
      batches.push([...messages]);
    },
  };
  const log = createLog({ level: 'debug', format: 'text', write: (line) => logged.push(line) });
  return { queue: createTurnQueue({ binding, log, clock: systemClock }), batches, logged };
}

const hint = (instanceId: string, delayMs = 0) => ({ tenantId: 'saltmarsh', instanceId, delayMs });

describe('hints over a Cloudflare queue', () => {
  it('of one tick share calls of at most a hundred', async () => {
    const { queue, batches } = queueUnderTest();
    for (let n = 0; n < 250; n += 1) queue.send([hint(`i${n}`)]);
    await queue.settled();
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
    const read = batches.flat().map(({ body }) => decodeHintMessage(body));
    expect(new Set(read.map((one) => one.ok && one.value.instanceId)).size).toBe(250);
  });

  it('that say the same are sent once, and delays are rounded up', async () => {
    const { queue, batches } = queueUnderTest();
    queue.send([hint('a'), hint('a'), hint('b', 1), hint('b', 900), hint('c', 900_000)]);
    await queue.settled();
    expect(batches.flat().map(({ delaySeconds }) => delaySeconds)).toEqual([0, 1, 900]);
  });

  it('of more than fifteen minutes are refused, and what the queue refuses is lost and told', async () => {
    const long = queueUnderTest();
    long.queue.send([hint('a', 900_001), hint('b', Number.NaN)]);
    await long.queue.settled();
    expect(long.batches).toEqual([]);
    expect(long.logged).toHaveLength(2);
    const full = queueUnderTest(false);
    full.queue.send([hint('a')]);
    await full.queue.settled();
    expect(full.logged.join()).toContain('hints could not be sent');
  });

  it('go out again after the first have arrived', async () => {
    const { queue, batches } = queueUnderTest();
    queue.send([hint('a')]);
    await queue.settled();
    queue.send([]);
    queue.send([hint('a')]);
    await queue.settled();
    expect(batches).toHaveLength(2);
  });
});
