import { compareCodePoints } from '../../core/json.ts';
import type { HandlerAnnouncement, LiveHandlers, LiveWithin } from '../../ports/store/handler-names.ts';
import type { Tx } from './database.ts';
import type { HandlerNameRow } from './rows.ts';

const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000;
const NAMES_MAX = 10_000;

export function announceHandlers(
  tx: Tx,
  { buildId, handlers }: HandlerAnnouncement,
  within: LiveWithin,
): LiveHandlers {
  const { handlerNames } = tx.db;
  for (const { name, kind } of handlers) {
    handlerNames.put(keyOf({ name, buildId }), { name, buildId, kind, lastSeenAt: tx.t });
  }
  for (const row of handlerNames.values()) {
    if (row.lastSeenAt + FORGOTTEN_AFTER_MS < tx.t) handlerNames.remove(keyOf(row));
  }
  return listLiveHandlers(tx, within);
}

function keyOf({ name, buildId }: Pick<HandlerNameRow, 'name' | 'buildId'>): string {
  return JSON.stringify([name, buildId]);
}

export function listLiveHandlers(tx: Tx, { announcedWithinMs, polledWithinMs }: LiveWithin): LiveHandlers {
  const announced = tx.db.handlerNames.values().filter((row) => row.lastSeenAt + announcedWithinMs >= tx.t);
  const polls = tx.db.workers.values().flatMap((worker) => [...worker.handlers]);
  return {
    announced: sortedNames(announced.map(({ name }) => name)),
    polled: sortedNames(polls.flatMap(([name, at]) => (at + polledWithinMs >= tx.t ? [name] : []))),
  };
}

function sortedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort(compareCodePoints).slice(0, NAMES_MAX);
}
