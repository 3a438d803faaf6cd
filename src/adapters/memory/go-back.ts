import { CACHE_PREFIX } from '../../core/run/leaf/result-cache.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';
import { takeOut } from './apply-records.ts';
import type { Tx } from './database.ts';
import { acceptSignal } from './wake.ts';

/** Rows leave the lists, cached results go, and the signals are the first facts of the new run. */
export function applyGoBack(tx: Tx, turn: TurnCommit, runNo: number): void {
  const { db } = tx;
  for (const { superseded, signals } of turn.goBack ?? []) {
    const places = new Set(superseded.map(({ rev, ordinal }) => `${rev}.${ordinal}`));
    for (const row of db.outputs.of(turn.instanceId).values()) {
      if (row.supersededBy === null && places.has(`${row.rev}.${row.ordinal}`)) takeOut(tx, row, runNo);
    }
    for (const [key] of db.kv.of(turn.instanceId).entries()) {
      if (key.startsWith(CACHE_PREFIX)) db.kv.of(turn.instanceId).remove(key);
    }
    for (const signal of signals) {
      const row = db.instances.get(turn.instanceId);
      if (row !== undefined) acceptSignal(tx, row, signal);
    }
  }
}
