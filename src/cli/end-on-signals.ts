import { constants } from 'node:os';

/**
 * Lets process 1 of a container end at SIGTERM and SIGINT as any other process does. The kernel drops what process 1 does not listen for,
 * so a server that still loads, or a command that waits, would go on until the platform kills it. Whoever listens himself
 * (until-stopped.ts) has precedence.
 */
export function endOnSignals(processId: number): void {
  if (processId !== 1) return;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}
