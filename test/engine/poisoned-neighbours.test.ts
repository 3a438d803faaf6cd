import { describe, expect, it } from 'vitest';
import { runHints } from '../../src/engine/invocation.ts';
import type { Hint } from '../../src/ports/hints.ts';
import { step } from './support/blocks.ts';
import { FunctionWorld, LIMIT_MS } from './support/function-world.ts';

const BATCH = 10;
const FUNCTIONS_MAX = 20;
const VISIBILITY_MS = 6 * LIMIT_MS;
const DELIVERIES_MAX = 5;
const MINUTE_MS = 60_000;

interface Message {
  readonly hint: Hint;
  readonly deliveries: number;
}

/** Functions that get messages in batches of ten, twenty of them at once. A call of `poison` ends its process. */
class Fleet extends FunctionWorld {
  ready: Message[] = [];
  readonly dead: Message[] = [];
  private busy = 0;

  constructor(takesMs: number) {
    const sent: Hint[] = [];
    const scripts = { good: { takesMs }, poison: { takesMs: 10 * LIMIT_MS } };
    // A single loss that is counted wrongly is to show.
    super({ scripts, settings: { maxRecoveries: 1 } }, (hint) => {
      sent.push(hint);
      return [];
    });
    this.ledger.onCall = ({ handler, process: name }) => {
      if (handler !== 'poison') return;
      const own = this.processes.find((process) => process.name === name);
      this.time.at(this.time.now + 400, () => own?.crash());
    };
    this.pump(sent);
  }

  /** Ends every function that is at work, and loses all messages. */
  strike(): void {
    // The first one is the API.
    for (const process of this.processes.slice(1)) process.crash();
    this.ready = [];
  }

  private pump(sent: Hint[]): void {
    for (const hint of sent.splice(0)) this.bring({ hint, deliveries: 0 }, hint.delayMs);
    while (this.busy < FUNCTIONS_MAX && this.ready.length > 0) this.work(this.ready.splice(0, BATCH));
    this.time.at(this.time.now + 250, () => this.pump(sent));
  }

  private bring(message: Message, afterMs: number): void {
    if (message.deliveries >= DELIVERIES_MAX) this.dead.push(message);
    else this.time.at(this.time.now + afterMs, () => this.ready.push(message));
  }

  private work(batch: readonly Message[]): void {
    const open = new Set(batch);
    const began = this.time.now;
    this.busy += 1;
    let over = (): void => {
      this.busy -= 1;
      over = () => undefined;
    };
    this.time.at(began + LIMIT_MS, () => over());
    this.invoke(async (engine, remainingTimeMs) => {
      const outcomes = await runHints(
        engine,
        batch.map(({ hint }) => hint),
        remainingTimeMs,
      );
      over();
      for (const [index, message] of batch.entries()) {
        open.delete(message);
        const again = { ...message, deliveries: message.deliveries + 1 };
        if (outcomes[index] !== 'done') this.bring(again, outcomes[index] === 'unstarted' ? 0 : 1_000);
      }
    });
    // What was not answered becomes visible again.
    this.time.at(began + VISIBILITY_MS, () => {
      for (const message of open) this.bring({ ...message, deliveries: message.deliveries + 1 }, 0);
    });
  }
}

async function statesOf(fleet: Fleet, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const id of ids) {
    const { state } = await fleet.view(id);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

async function untilAllOver(fleet: Fleet, ids: readonly string[], minutes: number): Promise<number> {
  for (let minute = 0; minute < minutes; minute += 1) {
    const states = Object.keys(await statesOf(fleet, ids));
    if (states.every((state) => state === 'completed' || state === 'failed')) return minute;
    await fleet.time.pass(MINUTE_MS);
  }
  return minutes;
}

describe('runs beside one that ends its process', () => {
  it('never fail for its sake: 400 good runs complete, 6 poisonous ones fail', async () => {
    const fleet = new Fleet(1_500);
    fleet.boot();
    const good = await fleet.publish([step('a', 'good')]);
    const poison = await fleet.publish([step('p', 'poison')]);
    const ids: string[] = [];
    const bad: string[] = [];
    for (let index = 0; index < 406; index += 1) {
      if (index % 67 === 5) bad.push(await fleet.start(poison));
      else ids.push(await fleet.start(good));
    }
    expect([ids.length, bad.length]).toEqual([400, 6]);
    await untilAllOver(fleet, [...ids, ...bad], 60);
    expect(await statesOf(fleet, ids)).toEqual({ completed: 400 });
    expect(await statesOf(fleet, bad)).toEqual({ failed: 6 });
    // Each was at work in three companies at most before it was alone, and then twice.
    for (const id of bad) expect(fleet.ledger.of('p', id).length).toBeLessThanOrEqual(5);
  });

  it('come back within minutes after a whole fleet has ended, its messages lost: as many turns at once as there are functions', async () => {
    const fleet = new Fleet(20_000);
    fleet.boot();
    const sequence = await fleet.publish([step('a', 'good', { timeout: 30_000 })]);
    const ids: string[] = [];
    for (let index = 0; index < 400; index += 1) ids.push(await fleet.start(sequence));
    await fleet.time.pass(10_000);
    fleet.strike();
    const minutes = await untilAllOver(fleet, ids, 60);
    expect(await statesOf(fleet, ids)).toEqual({ completed: 400 });
    expect(minutes).toBeLessThanOrEqual(15);
  });
});
