import { describe, expect, it } from 'vitest';
import type { FunctionEngine } from '../../src/engine/function-engine.ts';
import { runHints } from '../../src/engine/invocation.ts';
import type { Hint } from '../../src/ports/hints.ts';
import { standardSettings } from './support/engine-process.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const LIMIT_MS = 60_000;
const EVENT_EVERY_MS = 5_000;

/** One process that works at several events at once, as an isolate of Workers does. */
class Isolate extends TestEngine {
  readonly messages: { readonly hint: Hint; readonly at: number }[] = [];
  private readonly engine: FunctionEngine;

  constructor() {
    super({
      scripts: { quick: {}, slow: { takesMs: 20_000 } },
      hints: () => ({
        send: (hints: readonly Hint[]) => {
          for (const hint of hints) this.messages.push({ hint, at: this.time.now + hint.delayMs });
        },
        settled: () => Promise.resolve(),
      }),
    });
    const queue = { send: () => undefined, settled: () => Promise.resolve() };
    // Without room for turns of its own the process leaves each start to the queue.
    const { deps } = this.idle({ settings: { maxTurns: 0 } }).engine;
    this.engine = { deps, queue, settings: { ...standardSettings, leaseOwner: 'isolate', leaseMs: null } };
  }

  /** Every message that is due by now, each in an event of its own. */
  deliver(): void {
    const due = this.messages.filter(({ at }) => at <= this.time.now);
    for (const message of due) {
      this.messages.splice(this.messages.indexOf(message), 1);
      const end = this.time.now + LIMIT_MS;
      void runHints(this.engine, [message.hint], () => end - this.time.now);
    }
  }
}

describe('a run that has to be alone', () => {
  it('gets its turn in a process that would never be idle, and the others go on after it', async () => {
    const isolate = new Isolate();
    const quick = await isolate.publish([{ type: 'step', id: 'a', handler: 'quick' }]);
    const slow = await isolate.publish([{ type: 'step', id: 'a', handler: 'slow' }]);
    const suspect = await isolate.start(quick);
    isolate.messages.length = 0;
    const lost = {
      tenantId: TENANT,
      instanceId: suspect,
      leaseOwner: 'gone',
      leaseMs: 1_000,
      mode: 'hint',
    } as const;
    // Lost twice beside others.
    for (const among of [8, 2]) {
      const claim = await isolate.store.claimOne({ ...lost, among, leaseToken: isolate.nextId() });
      expect(claim.status).toBe('claimed');
      await isolate.time.pass(2_000);
    }
    isolate.messages.push({
      hint: { tenantId: TENANT, instanceId: suspect, delayMs: 0 },
      at: isolate.time.now,
    });
    const others: string[] = [];
    for (let event = 0; event < 24; event += 1) {
      others.push(await isolate.start(slow));
      isolate.deliver();
      await isolate.time.pass(EVENT_EVERY_MS);
    }
    expect(await isolate.view(suspect)).toMatchObject({ state: 'completed' });
    for (let event = 0; event < 24; event += 1) {
      isolate.deliver();
      await isolate.time.pass(EVENT_EVERY_MS);
    }
    for (const id of others) expect(await isolate.view(id)).toMatchObject({ state: 'completed' });
  });
});
