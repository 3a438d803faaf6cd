import type { Draft } from '../draft.ts';
import type { FanOutDetail } from '../frame.ts';
import { type Place, frameAt } from '../place.ts';

export const EMPTY: FanOutDetail = {
  kind: 'fan_out',
  next: 0,
  total: 0,
  snapshotKey: null,
  ended: 0,
  failed: 0,
  failedKey: '',
  again: [],
  decidedBy: null,
  error: null,
};

/** What the frame of a block that fans out says. */
export function fanOutAt(draft: Draft, owner: Place): FanOutDetail {
  const { detail } = frameAt(draft, owner);
  return detail.kind === 'fan_out' ? detail : EMPTY;
}

export function setDetail(draft: Draft, owner: Place, change: Partial<FanOutDetail>): void {
  draft.put({ ...frameAt(draft, owner), detail: { ...fanOutAt(draft, owner), ...change } });
}
