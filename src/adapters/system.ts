import type { Clock, Entropy, Log, LogFields } from '../ports/system.ts';

/** The longest delay a timer of the platform takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** The machine's clock. A long wait is made of several timers. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  soon: (callback) => {
    // Workers have none.
    if (typeof setImmediate === 'function') setImmediate(callback);
    else setTimeout(callback, 0);
  },
  after: (delayMs, callback) => {
    const deadlineMs = performance.now() + Math.max(0, delayMs);
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = deadlineMs - performance.now();
      timer =
        leftMs > MAX_TIMER_MS
          ? setTimeout(arm, MAX_TIMER_MS)
          : setTimeout(fire, Math.max(0, Math.ceil(leftMs)));
    };
    const fire = (): void => {
      // Timers may fire a fraction of a millisecond early; the port promises "at least".
      if (performance.now() < deadlineMs) arm();
      else callback();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

const POOL_BYTES = 8192;
let pool = new Uint8Array(0);
let poolUsed = 0;

/** Random bytes of the machine's cryptographic source, fetched in pools: an id per row makes single calls expensive. */
export const systemEntropy: Entropy = {
  bytes: (length) => {
    if (length > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(length));
    if (poolUsed + length > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
      poolUsed = 0;
    }
    poolUsed += length;
    // A copy: nobody who keeps the bytes may see those of somebody else.
    return pool.slice(poolUsed - length, poolUsed);
  },
};

export type LogSeverity = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogSettings {
  /** Lines below it are not written. */
  readonly level: LogSeverity;
  /** `json`: one object a line, for machines. `text`: for people at a terminal. */
  readonly format: 'json' | 'text';
  /** Where a line (with its line feed) goes; default standard error, so that standard output stays for results. */
  readonly write?: (line: string) => void;
  readonly clock?: Pick<Clock, 'nowMs'>;
}

const SEVERITIES: readonly LogSeverity[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** A structured log. Each line has time (RFC 3339), level and message; fields that are undefined are left out. */
export function createLog(settings: LogSettings): Log {
  const threshold = SEVERITIES.indexOf(settings.level);
  const write = settings.write ?? ((line: string) => process.stderr.write(line));
  const clock = settings.clock ?? systemClock;
  const at =
    (level: LogSeverity) =>
    (message: string, fields: LogFields = {}) => {
      if (SEVERITIES.indexOf(level) < threshold) return;
      const time = new Date(clock.nowMs()).toISOString();
      write(
        settings.format === 'json'
          ? jsonLine(time, level, message, fields)
          : textLine(time, level, message, fields),
      );
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function jsonLine(time: string, level: LogSeverity, message: string, fields: LogFields): string {
  // The line's own members come last: a field cannot pass for another level or message.
  return `${JSON.stringify({ ...fields, time, level, message })}\n`;
}

function textLine(time: string, level: LogSeverity, message: string, fields: LogFields): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` ${name}=${typeof value === 'string' && !/^[\w.:/@-]+$/.test(value) ? JSON.stringify(value) : value}`,
    );
  // A line feed in a message would look like a line of its own.
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message.replace(/[\r\n]+/g, ' ')}${shown.join('')}\n`;
}
