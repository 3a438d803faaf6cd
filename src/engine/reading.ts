import type * as ReadPlan from './read-plan.ts';

/*
 * What reads documents and checks values against schemas is a third of what a function would load, and no process needs it
 * before its first definition. So it is loaded with that one (docs/decisions/0014).
 */

type Reading = typeof ReadPlan;

let loaded: Reading | null = null;

export async function loadReading(): Promise<Reading> {
  loaded ??= await import('./read-plan.ts');
  return loaded;
}

/** For those who have a plan in their hands: then it is loaded. */
export function reading(): Reading {
  if (loaded === null) throw new Error('a plan came from elsewhere than from a definition');
  return loaded;
}
