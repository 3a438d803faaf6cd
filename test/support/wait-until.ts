import { setTimeout as delay } from 'node:timers/promises';

const LOOKS_EVERY_MS = 25;
const GIVES_UP_AFTER_MS = 60_000;

/**
 * Asks again and again until the answer is neither null, undefined nor false; for processes that cannot signal. `what`
 * is for the error of a test that waits in vain.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  givesUpAfterMs: number = GIVES_UP_AFTER_MS,
): Promise<T> {
  const givesUpAt = Date.now() + givesUpAfterMs;
  while (Date.now() < givesUpAt) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    await delay(LOOKS_EVERY_MS);
  }
  throw new Error(`waited ${givesUpAfterMs / 1000} s in vain: ${what}`);
}
