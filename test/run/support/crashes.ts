import type { TurnCommit } from '../../../src/ports/store/turn.ts';
import type { World } from './world.ts';

/** What a commit says is lost once; the second try goes through. */
export function isFirstTry(world: World, turn: TurnCommit): boolean {
  const rows = turn.rows.map((row) => [row.blockId, row.iteration, row.kind, row.attempt]);
  const frames = turn.frames.map(({ frame }) => [frame.blockId, frame.branch, frame.iteration, frame.cursor]);
  const said = [turn.instanceId, turn.runNo, rows, frames, turn.inboxDone, turn.settle?.state];
  const key = JSON.stringify(said);
  if (world.lost.has(key)) return false;
  world.lost.add(key);
  return true;
}

/** A crash after every commit that does no more than dispatch again would never let anything end. */
export function onlyRepeatsIntents(turn: TurnCommit): boolean {
  const writes =
    turn.rows.length + turn.inboxDone.length + turn.tasksCreated.length + turn.framesDeleted.length;
  return (
    writes === 0 && turn.frames.every((write) => ((write.intent ?? write.frame).leaf?.redeliveries ?? 0) > 0)
  );
}
