import { describe, expect, it } from 'vitest';
import { parseJsonAtDoor } from '../../src/core/json-door.ts';
import { canonicalJson, jsonObject } from '../../src/core/json.ts';

describe('JSON values', () => {
  it('are doubles; an integer that a double cannot hold is refused at the door [VAL-1] (RULINGS B11)', () => {
    expect(parseJsonAtDoor('[9007199254740991, -9007199254740991, 0.1]')).toEqual({
      ok: true,
      value: [9_007_199_254_740_991, -9_007_199_254_740_991, 0.1],
    });
    expect(parseJsonAtDoor('{"n": 9007199254740992}')).toMatchObject({ ok: false, error: { pointer: '/n' } });
    expect(parseJsonAtDoor('["9007199254740992"]')).toEqual({ ok: true, value: ['9007199254740992'] });
  });

  it('have one canonical text, whatever order and form they came in [VAL-2]', () => {
    const first = parseJsonAtDoor(
      '{"b": 1.0, "a": [-0, 1e2, "\\u0041\\n"], "\\ud83c\\udf0a": null, "\uffee": 1}',
    );
    const other = parseJsonAtDoor('{"\uffee":1,"\ud83c\udf0a":null,"a":[0,100,"A\\n"],"b":1}');
    expect(first.ok && canonicalJson(first.value)).toBe(
      '{"a":[0,100,"A\\n"],"b":1,"\uffee":1,"\ud83c\udf0a":null}',
    );
    expect(other.ok && canonicalJson(other.value)).toBe(first.ok && canonicalJson(first.value));
  });

  it('may have any key, also one that objects inherit', () => {
    const odd = jsonObject([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
    expect(canonicalJson(odd)).toBe('{"__proto__":1,"constructor":2}');
  });
});
