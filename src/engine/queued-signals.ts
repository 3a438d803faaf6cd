import type { Json } from '../core/json.ts';
import type { UseCaseDeps } from './use-case.ts';

/** A signal that waits for a run before it begins. */
export interface QueuedSignal {
  /** `pause`, `resume`, `cancel`, `update_context` or `custom:<name>`. */
  readonly signalType: string;
  readonly payload: Json;
}

export function withIds(
  deps: Pick<UseCaseDeps, 'ids'>,
  signals: readonly QueuedSignal[],
): readonly (QueuedSignal & { readonly id: string })[] {
  return signals.map((signal) => ({ ...signal, id: deps.ids.newId() }));
}
