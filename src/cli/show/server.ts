import { existsSync } from 'node:fs';
import { nextCommand } from '../client/connection.ts';
import type { RunningServer } from '../compose.ts';
import type { ServerFlags } from '../server-flags.ts';
import { describeDatabase } from '../settings/database-target.ts';
import type { Settings } from '../../settings/schema.ts';
import type { Terminal } from '../terminal.ts';

/** Says that the server takes calls: where, with which data, and what to try. One JSON line for machines. */
export function announceReady(
  server: RunningServer,
  settings: Settings,
  readyMs: number,
  flags: ServerFlags,
  terminal: Terminal,
): void {
  if (flags.json) {
    terminal.out(
      JSON.stringify({
        event: 'ready',
        url: server.url,
        data: describeDatabase(settings.databaseUrl),
        handlers: server.userHandlerNames,
        pid: process.pid,
        ready_ms: Math.round(readyMs),
      }),
    );
    return;
  }
  if (flags.quiet) return;
  const { bold, dim, green, yellow, cyan } = terminal.palette;
  const row = (name: string, value: string) => terminal.out(`  ${dim(name.padEnd(9))} ${value}`);
  const state = server.isReady() ? green('ready') : yellow('listening, but not ready,');
  terminal.out('');
  terminal.out(`  ${bold('Stepwell')} ${server.version} ${state} ${dim(`in ${seconds(readyMs)}`)}`);
  terminal.out('');
  row('API', cyan(`${server.url}/api/v1`));
  row('Data', describeDatabase(settings.databaseUrl));
  if (server.userHandlerNames.length > 0) row('Handlers', server.userHandlerNames.join(', '));
  row('Try', `curl ${server.url}/health/ready`);
  // In a clone there is a sequence to begin with.
  if (existsSync('examples/hello.json')) {
    row('', nextCommand('publish examples/hello.json', server.url));
    row('', nextCommand(`start hello --data '{"name": "Ada"}'`, server.url));
  }
  terminal.out('');
  terminal.out(dim('  Ctrl-C stops it.'));
  terminal.out('');
}

export function announceStopping(
  settings: Settings,
  activeTurnCount: number,
  flags: ServerFlags,
  terminal: Terminal,
): void {
  if (flags.quiet) return;
  if (flags.json) {
    terminal.out(JSON.stringify({ event: 'stopping', active_instances: activeTurnCount }));
    return;
  }
  const steps = activeTurnCount === 1 ? 'one instance at work' : `${activeTurnCount} instances at work`;
  const text =
    activeTurnCount === 0
      ? 'Stopping.'
      : `Stopping: ${steps} may take up to ${settings.shutdownGraceSecs} s. Ctrl-C again stops at once; nothing is lost.`;
  terminal.out(terminal.palette.dim(`  ${text}`));
}

/** The last line: whoever waits for the end of the process sees that it is the intended one. */
export function announceStopped(flags: ServerFlags, terminal: Terminal): void {
  if (flags.quiet) return;
  terminal.out(flags.json ? JSON.stringify({ event: 'stopped' }) : terminal.palette.dim('  Stopped.'));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
