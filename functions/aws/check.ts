import { systemClock } from '../../src/adapters/system.ts';
import { untilAnswered } from '../../src/engine/until-answered.ts';
import type { AwsParts } from './compose.ts';
import { keepWake, type OwnAddress } from './economy.ts';

/** Permissions of a role that has just been made take some seconds to hold everywhere. */
const WAKE_TRIES_MAX = 6;
const PAUSE_MS = 3_000;
/** A database that sleeps is woken. */
const LOOKS_MAX = 8;

/** What a deployment sends instead of a tick. */
export function isCheck(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'action' in event && event.action === 'check';
}

/**
 * What a deployment asks of new code in one function before it changes the others: the modules of the user can be imported, the
 * settings are complete, the login of the functions may ask the database, and in economy mode a wake can be kept, which then
 * also finds what an earlier deployment has left. Rejects with what is wrong, and so fails the deployment.
 *
 * @param pauseMs Between two tries to keep a wake.
 */
export async function check(parts: AwsParts, address: OwnAddress, pauseMs = PAUSE_MS): Promise<void> {
  const { store } = parts.engine.deps;
  await untilAnswered(
    systemClock,
    () => store.lookForWork({}),
    (tries) => tries < LOOKS_MAX,
  );
  for (let tries = 1; !(await keepWake(parts, address)); tries += 1) {
    if (tries === WAKE_TRIES_MAX) throw new Error('no wake could be kept: the log says why');
    await new Promise<void>((resume) => {
      systemClock.after(pauseMs, resume);
    });
  }
  parts.log.info('the new code can work', { handlers: parts.engine.deps.handlers.userNames.length });
}
