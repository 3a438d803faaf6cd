import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import scenarios from '../spec/scenarios.json' with { type: 'json' };
import { COVERED_ELSEWHERE } from './covered-elsewhere.ts';
import { OUT_OF_SCOPE } from './out-of-scope.ts';

const folder = 'test/acceptance';
const ids = Object.values(scenarios).flat();

/** Ids at the beginning of a name, and those that a table of cases hands to one. */
const IDS = /['"`]((?:[A-K]\d{1,2}(?:, )?)+)(?=:|['"`],)/g;

const tested = new Set(
  readdirSync(folder)
    .filter((name) => name.startsWith('describe-'))
    .flatMap((name) => [...readFileSync(`${folder}/${name}`, 'utf8').matchAll(IDS)])
    .flatMap(([, found]) => (found ?? '').split(', ')),
);

describe('the acceptance scenarios', () => {
  it('are each played here, elsewhere over HTTP, or out of scope for a reason', () => {
    const known = (id: string) =>
      tested.has(id) || Object.hasOwn(COVERED_ELSEWHERE, id) || Object.hasOwn(OUT_OF_SCOPE, id);
    expect(ids.filter((id) => !known(id))).toEqual([]);
  });

  it('that are out of scope are played nowhere', () => {
    const played = (id: string) => tested.has(id) || Object.hasOwn(COVERED_ELSEWHERE, id);
    expect(Object.keys(OUT_OF_SCOPE).filter(played)).toEqual([]);
  });

  it('have ids that the list of scenarios knows', () => {
    const named = [...tested, ...Object.keys(COVERED_ELSEWHERE), ...Object.keys(OUT_OF_SCOPE)];
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('that are played elsewhere are tests there', () => {
    const missing = Object.values(COVERED_ELSEWHERE)
      .flat()
      .filter(({ file, name }) => !readFileSync(file, 'utf8').includes(name));
    expect(missing).toEqual([]);
  });
});
