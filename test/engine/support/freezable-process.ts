import { createInterface } from 'node:readline';
import type { StepHandler } from '../../../src/ports/step-handler.ts';
import { createRealEngine } from './real-engine.ts';

/**
 * A process that runs one instance and can be frozen in the middle: says `called` when its handler runs, answers from it
 * when it reads a line, and says how its turn ended. Arguments: connection string, tenant, instance, lease in ms.
 */
const [url = '', tenantId = '', instanceId = '', leaseMs = '1000'] = process.argv.slice(2);

const input = createInterface({ input: process.stdin });
const line = new Promise<void>((resolve) => {
  input.once('line', () => resolve());
});

const handler: StepHandler = {
  name: 'held',
  kind: 'effect',
  async run() {
    process.stdout.write('called\n');
    await line;
    return { ok: true, output: { by: 'frozen' } };
  },
};

const engine = createRealEngine(url, 'frozen', [handler], { leaseMs: Number(leaseMs) });
engine.runner.onTurnEnd((_, end) => {
  process.stdout.write(`${end.kind}\n`, () => process.exit(0));
});
await engine.runner.nudge({ tenantId, instanceId });
