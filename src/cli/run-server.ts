import type { Advice } from '../core/advice.ts';
import { ok, type Result } from '../core/result.ts';
import { systemClock } from '../adapters/system.ts';
import type { CommandResult } from './command.ts';
import type { RunningServer } from './compose.ts';
import { loadSettings } from './load-settings.ts';
import { type ServerFlags, settingsOfFlags, withPort } from './server-flags.ts';
import type { SettingKey, Settings } from '../settings/schema.ts';
import { announceReady, announceStopped, announceStopping } from './show/server.ts';
import type { Terminal } from './terminal.ts';
import { listenForStop } from './until-stopped.ts';

export interface ServerPlan {
  readonly flags: ServerFlags;
  readonly terminal: Terminal;
  readonly commandDefaults: Partial<Settings>;
  /** Refuses settings that this command does not take. */
  readonly check: (settings: Settings) => Result<null, Advice>;
  /** Told what takes longer than usual, e.g. that the template database is being built. */
  readonly open: (
    settings: Settings,
    onProgress: (text: string) => void,
    given: ReadonlySet<SettingKey>,
  ) => Promise<Result<RunningServer, Advice>>;
}

/** Status of a process that a second Ctrl-C ended (128 + SIGINT). */
const INTERRUPTED = 130;

/** The life of `dev` and `serve`: settings, start, ready, until somebody wants it to stop, drain. */
export async function runServer(plan: ServerPlan): Promise<CommandResult> {
  const { flags, terminal } = plan;
  const resolved = await loadSettings(settingsOfFlags(flags), plan.commandDefaults);
  if (!resolved.ok) return resolved;
  for (const warning of resolved.value.warnings)
    terminal.note(`${terminal.palette.yellow('Warning')} ${warning}`);
  const withFlags = withPort(resolved.value.settings, flags.port);
  if (!withFlags.ok) return withFlags;
  const settings = withFlags.value;
  const checked = plan.check(settings);
  if (!checked.ok) return checked;
  // From here on a signal must not leave a half-started server behind: it is stopped as soon as it runs.
  const stop = listenForStop(systemClock, () => process.exit(INTERRUPTED));
  const server = await plan.open(
    settings,
    (text) => terminal.note(terminal.palette.dim(text)),
    resolved.value.given,
  );
  if (!server.ok) {
    stop.dispose();
    return server;
  }
  // The monotonic clock of a process begins with it, so this is what the user waited for.
  announceReady(server.value, settings, systemClock.monotonicMs(), flags, terminal);
  await stop.first;
  announceStopping(settings, server.value.activeTurnCount(), flags, terminal);
  const inTime = await server.value.stop(settings.shutdownGraceSecs * 1000);
  stop.dispose();
  if (inTime) announceStopped(flags, terminal);
  if (!inTime) {
    terminal.note('Some steps did not end in time; they run again, with the same idempotency keys.');
    // A handler that still runs would keep the process alive for as long as it likes.
    process.exit(0);
  }
  return ok(null);
}
