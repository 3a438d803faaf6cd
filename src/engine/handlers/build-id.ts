import { sha256Hex } from '../../core/digest.ts';

/**
 * Names a build by what it can run (RULINGS B8): processes with the same version and the same handlers share it, whatever
 * the order of the names.
 */
export function buildIdOf(handlerNames: readonly string[], version: string): string {
  return sha256Hex(JSON.stringify([version, ...handlerNames.toSorted()])).slice(0, 16);
}
