import { describe, expect, it } from 'vitest';
import { createDatabaseTrouble } from '../../src/engine/database-trouble.ts';

/** Ten questions a second for as long as it is said; what was logged, with the second. */
function logOf(play: (ask: (secs: number, isDown: boolean) => void) => void): readonly string[] {
  let now = 0;
  const lines: string[] = [];
  const say = (message: string, fields: object = {}) =>
    lines.push(`${Math.floor(now / 1000)} ${message} ${JSON.stringify(fields)}`);
  const trouble = createDatabaseTrouble({ monotonicMs: () => now }, { warn: say, info: say });
  play((secs, isDown) => {
    for (let tick = 0; tick < secs * 10; tick += 1) {
      if (isDown) trouble.missed(new Error('refused'));
      else trouble.answered();
      now += 100;
    }
  });
  return lines;
}

describe('a database that does not answer the loop', () => {
  it('is told at once, then ever more rarely, and once when it is back', () => {
    const lines = logOf((ask) => {
      ask(5, false);
      ask(10, true);
      ask(5, false);
      ask(1, true);
    });
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['5', '6', '8', '12', '15', '20']);
    expect(lines[0]).toContain('could not reach the database {"error":"Error: refused"}');
    expect(lines[2]).toContain('"times_since":20');
    expect(lines[4]).toContain('the database answers the engine loop again');
  });

  it('is told once a minute at least while it lasts', () => {
    expect(logOf((ask) => ask(600, true)).length).toBeGreaterThan(12);
    expect(logOf((ask) => ask(600, true)).length).toBeLessThan(18);
  });

  it('tells another error at once', () => {
    const lines: string[] = [];
    const say = (_: string, fields: object = {}) => lines.push(JSON.stringify(fields));
    const trouble = createDatabaseTrouble({ monotonicMs: () => 0 }, { warn: say, info: say });
    for (const text of ['refused', 'refused', 'denied', 'refused']) trouble.report(new Error(text));
    expect(lines).toHaveLength(2);
  });
});
