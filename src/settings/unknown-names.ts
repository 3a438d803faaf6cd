import { nearestName } from '../core/definition/did-you-mean.ts';
import { laterVariables } from './later-variables.ts';

/** Names for the test runner are none of the product's business. */
export function isOurs(name: string): boolean {
  return name.startsWith('STEPWELL_') && !name.startsWith('STEPWELL_TEST_');
}

/** The warning for a variable that nobody reads. */
export function unknownVariable(name: string, known: readonly string[]): string {
  if (laterVariables.has(name)) return `${name} has no effect in this release.`;
  const near = nearestName(name, [...known, ...laterVariables]);
  return `${name} is not a setting and has no effect.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}
