import { createLog } from '../../src/adapters/system.ts';
import type { Log } from '../../src/ports/system.ts';
import type { HostSettings } from '../settings.ts';

/** One JSON object a line, as the platform's log search wants it. */
export function createWorkerLog(level: HostSettings['STEPWELL_LOG_LEVEL']): Log {
  return createLog({
    level,
    format: 'json',
    write: (line) => {
      // oxlint-disable-next-line no-console -- it is the only way out of a Worker
      console.log(line.trimEnd());
    },
  });
}
