import { createSeal, plainSeal } from '../src/adapters/seal.ts';
import { systemEntropy } from '../src/adapters/system.ts';
import type { Seal } from '../src/ports/seal.ts';
import type { HostSettings } from './settings.ts';

/** As on a server: with keys of any kind, secrets are kept sealed or not at all. */
export function sealOf(settings: HostSettings): { readonly seal?: Seal } {
  const { STEPWELL_ENCRYPTION_KEY: key, STEPWELL_OLD_ENCRYPTION_KEY: oldKey } = settings;
  if (key === undefined) return settings.STEPWELL_API_KEY === undefined ? { seal: plainSeal } : {};
  return { seal: createSeal({ key, ...(oldKey === undefined ? {} : { oldKey }) }, systemEntropy) };
}
