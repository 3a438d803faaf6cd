import { describe, expect, it, vi } from 'vitest';
import { createLog, type LogSettings, systemClock, systemEntropy } from '../../src/adapters/system.ts';
import type { Log } from '../../src/ports/system.ts';

const clock = { nowMs: () => Date.UTC(2027, 1, 9, 8, 30, 15, 250) };

function linesOf(settings: Omit<LogSettings, 'write' | 'clock'>, use: (log: Log) => void): string[] {
  const lines: string[] = [];
  use(createLog({ ...settings, clock, write: (line) => lines.push(line) }));
  return lines;
}

describe('log', () => {
  it('writes one JSON object a line, without undefined fields', () => {
    const lines = linesOf({ level: 'info', format: 'json' }, (log) => {
      log.info('turn done', { instance: 'i-1', leafCount: 3, late: false, worker: null, gone: undefined });
    });
    expect(lines).toEqual([
      '{"instance":"i-1","leafCount":3,"late":false,"worker":null,"time":"2027-02-09T08:30:15.250Z","level":"info","message":"turn done"}\n',
    ]);
  });

  it('does not let a field pass for the message, nor a line break for a line', () => {
    const json = linesOf({ level: 'info', format: 'json' }, (log) => {
      log.warn('real\nline', { message: 'false', level: 'debug', time: 'never' });
    });
    expect(JSON.parse(json.join(''))).toEqual({
      time: '2027-02-09T08:30:15.250Z',
      level: 'warn',
      message: 'real\nline',
    });
    expect(json.join('').split('\n')).toHaveLength(2);
    const text = linesOf({ level: 'info', format: 'text' }, (log) => {
      log.warn('real\r\nline', { name: 'two\nlines', id: 'i-1', count: 2, gone: undefined });
    });
    expect(text).toEqual(['08:30:15.250 WARN  real line name="two\\nlines" id=i-1 count=2\n']);
  });

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const)('at level %s writes %j', (level, written) => {
    const lines = linesOf({ level, format: 'json' }, (log) => {
      log.debug('m');
      log.info('m');
      log.warn('m');
      log.error('m');
    });
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(written);
  });

  it('goes to standard error with the time of the machine', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    createLog({ level: 'info', format: 'text' }).info('ready');
    expect(write.mock.calls).toEqual([[expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} INFO  ready\n$/)]]);
    write.mockRestore();
  });
});

describe('clock of the machine', () => {
  it('calls back once, not before the delay is over', async () => {
    const startMs = systemClock.monotonicMs();
    await new Promise<void>((resolve) => {
      systemClock.after(5, resolve);
    });
    expect(systemClock.monotonicMs() - startMs).toBeGreaterThanOrEqual(5);
  });

  it('does not call back after it was cancelled', async () => {
    let called = false;
    systemClock.after(0, () => {
      called = true;
    })();
    await new Promise<void>((resolve) => {
      systemClock.after(1, resolve);
    });
    expect(called).toBe(false);
  });

  it('waits longer than one timer of the platform can', () => {
    vi.useFakeTimers();
    try {
      const tenYearsMs = 315_360_000_000;
      const callback = vi.fn<() => void>();
      systemClock.after(tenYearsMs, callback);
      vi.advanceTimersByTime(tenYearsMs - 1);
      expect(callback).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(callback).toHaveBeenCalledOnce();
      systemClock.after(tenYearsMs, callback)();
      expect(vi.getTimerCount()).toBe(0);
      systemClock.after(-5, callback);
      vi.advanceTimersByTime(0);
      expect(callback).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('gives the wall clock in epoch milliseconds', () => {
    expect(new Date(systemClock.nowMs()).getUTCFullYear()).toBeGreaterThanOrEqual(2026);
  });
});

describe('entropy of the machine', () => {
  it('gives fresh bytes of the length asked for', () => {
    expect(systemEntropy.bytes(16)).toHaveLength(16);
    expect(systemEntropy.bytes(16)).not.toEqual(systemEntropy.bytes(16));
    expect(systemEntropy.bytes(0)).toHaveLength(0);
  });
});
