import type { Narrator } from './narrator.ts';
import { type Engine, type EngineOptions, startEngine } from './processes.ts';

/** The engine, killed with SIGKILL at given calls of the desk and started again each time. */
export interface MortalEngine {
  /** The first start is done. Rejects when it fails. */
  readonly ready: Promise<void>;
  /** The desk got a call; the call is open while the engine dies. */
  readonly onDeskCall: () => void;
  /** The last restart is done. */
  readonly allKillsDone: Promise<void>;
  readonly killCount: () => number;
  readonly stop: () => Promise<void>;
}

export function startMortalEngine(
  options: EngineOptions,
  killAtCalls: readonly number[],
  narrator: Narrator,
): MortalEngine {
  let callCount = 0;
  let killCount = 0;
  const start = async (): Promise<Engine> => {
    const engine = await startEngine(options);
    const { bold, dim } = narrator.palette;
    narrator.say(
      'engine',
      `${bold('ready')} after ${engine.readyMs} ms ${dim(`pid ${engine.pid}, port ${options.port}`)}`,
    );
    return engine;
  };
  let current = start();
  let resolveKills: () => void = () => {};
  let rejectKills: (error: unknown) => void = () => {};
  const allKillsDone = new Promise<void>((resolve, reject) => {
    resolveKills = resolve;
    rejectKills = reject;
  });
  // Whoever waits sees the failure; until then it must not count as unhandled.
  allKillsDone.catch(() => {});

  const killAndRestart = async (): Promise<void> => {
    const engine = await current;
    narrator.say(
      'KILL',
      `kill -9 ${engine.pid} during call ${callCount} of the desk (${killCount} of ${killAtCalls.length})`,
    );
    current = engine.kill().then(start);
    await current;
    if (killCount === killAtCalls.length) resolveKills();
  };

  return {
    ready: current.then(() => {}),
    onDeskCall: () => {
      callCount += 1;
      if (!killAtCalls.includes(callCount)) return;
      killCount += 1;
      killAndRestart().catch(rejectKills);
    },
    allKillsDone,
    killCount: () => killCount,
    stop: async () => {
      const engine = await current.catch(() => null);
      await engine?.stop();
    },
  };
}
