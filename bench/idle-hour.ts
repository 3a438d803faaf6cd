import { systemClock } from '../src/adapters/system.ts';
import type { Clock } from '../src/ports/system.ts';
import type { NeonLocal } from '../test/support/neon-local.ts';
import { createFunctionHost, type FunctionHost } from './function-host.ts';

/** What the database was asked. */
export interface Asked {
  readonly statements: number;
  readonly requests: number;
}

export interface IdleHour {
  /** A sweep each minute, sixty of them. */
  readonly steady: Asked;
  /** The wakes that come in an hour with nothing due. */
  readonly economy: Asked;
  /** What is asked, in how many wakes, between the end of the last run and that hour. */
  readonly economyUntilRest: Asked & { readonly wakes: number };
  /** One of the sweeps every six hours that look whether a wake was lost, with the wakes of the hour after it. */
  readonly safetySweep: Asked & { readonly wakes: number };
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A deployment that wakes itself for ever is no idle one. */
const WAKES_MAX = 20;

/** An hour of a deployment that has done some work and has nothing more to do, in virtual time. */
export async function idleHour(databaseUrl: string, neon: NeonLocal): Promise<IdleHour> {
  const steady = await steadyHour(databaseUrl, neon);
  return { steady, ...(await economyHour(databaseUrl, neon)) };
}

async function steadyHour(databaseUrl: string, neon: NeonLocal): Promise<Asked> {
  const time = createVirtualTime();
  const host = createFunctionHost({ databaseUrl, clock: time.clock });
  try {
    await work(host);
    await host.sweep();
    return await count(neon, async () => {
      for (let sweeps = 0; sweeps < HOUR_MS / MINUTE_MS; sweeps += 1) {
        time.moveTo(time.now() + MINUTE_MS);
        await host.sweep();
      }
    });
  } finally {
    await host.close();
  }
}

async function economyHour(databaseUrl: string, neon: NeonLocal): Promise<Omit<IdleHour, 'steady'>> {
  const time = createVirtualTime();
  const wakes: number[] = [];
  const keep = (delayMs: number): Promise<void> => {
    wakes.push(time.now() + delayMs);
    return Promise.resolve();
  };
  const host = createFunctionHost({
    databaseUrl,
    clock: time.clock,
    waker: { guard: keep, wakeWithin: keep, wakeAgain: ({ delayMs }) => keep(delayMs) },
  });
  /** Carries out the wakes until then; each comes to a process that knows of no others. */
  const passTime = async (until: number): Promise<number> => {
    let carriedOut = 0;
    for (; ; carriedOut += 1) {
      const next = Math.min(...wakes);
      if (next > until || carriedOut === WAKES_MAX) return carriedOut;
      wakes.splice(wakes.indexOf(next), 1);
      time.moveTo(Math.max(next, time.now()));
      host.parts.wakes.memory.keptUntilMs = 0;
      await host.sweep();
      await host.drain();
    }
  };
  try {
    await work(host);
    let carriedOut = 0;
    const settling = await count(neon, async () => {
      carriedOut = await passTime(time.now() + HOUR_MS);
    });
    const economy = await count(neon, async () => {
      await passTime(time.now() + HOUR_MS);
    });
    const economyUntilRest = { ...settling, wakes: carriedOut };
    const sweep = await count(neon, async () => {
      await host.sweep();
      carriedOut = await passTime(time.now() + HOUR_MS);
    });
    return { economy, economyUntilRest, safetySweep: { ...sweep, wakes: carriedOut } };
  } finally {
    await host.close();
  }
}

/** Something that was done before, as otherwise nothing would have been kept. */
async function work(host: FunctionHost): Promise<void> {
  const sequenceId = await host.publish(3);
  await host.start(sequenceId);
  await host.drain();
  if (host.stepCount() !== 3) throw new Error('the run did not call every step once');
}

async function count(neon: NeonLocal, act: () => Promise<void>): Promise<Asked> {
  const [statements, requests] = [neon.statementCount(), neon.requestCount()];
  await act();
  return { statements: neon.statementCount() - statements, requests: neon.requestCount() - requests };
}

/** The machine's clock, moved on by hand: what the process does now and then is done as often as in a true hour. */
function createVirtualTime() {
  let aheadMs = 0;
  const now = (): number => systemClock.nowMs() + aheadMs;
  const clock: Clock = {
    ...systemClock,
    nowMs: now,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const moveTo = (atMs: number): void => {
    aheadMs += Math.max(0, atMs - now());
  };
  return { clock, now, moveTo };
}
