import type { JsonObject } from '../core/json.ts';
import { refuse, type Refused } from './refusal.ts';

/** 400 for a cap below zero, null when there is none (http-api.md 1.5, 5.2). Absent caps do not limit ([BUD-1]). */
export function negativeCap(budget: JsonObject | null): Refused | null {
  const name = Object.entries(budget ?? {}).find(([, cap]) => typeof cap === 'number' && cap < 0)?.[0];
  return name === undefined ? null : refuse('invalid_argument', `budget: ${name} must not be negative`);
}
