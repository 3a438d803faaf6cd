import { nearestName } from '../core/definition/did-you-mean.ts';
import { laterVariables } from './later-variables.ts';

/** Shorter words are not compared. */
const WORD_MIN = 4;

/** Names for the test runner are none of the product's business. */
export function isOurs(name: string): boolean {
  return name.startsWith('STEPWELL_') && !name.startsWith('STEPWELL_TEST_');
}

/** The warning for a variable that nobody reads. */
export function unknownVariable(name: string, known: readonly string[]): string {
  if (laterVariables.has(name)) return `${name} has no effect in this release.`;
  // Every short word is near to another one, and what has no effect is nothing to propose.
  const isShort = name.length < 'STEPWELL_'.length + WORD_MIN;
  const near = isShort ? undefined : nearestName(name, known);
  return `${name} is not a setting and has no effect.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}
