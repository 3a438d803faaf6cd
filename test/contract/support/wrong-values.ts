import type { Field } from '../tables/fields.ts';

/** Values that no member of this type takes. */
export const WRONG: Readonly<Record<Field['type'], readonly unknown[]>> = {
  uuid: ['nope', 5, {}],
  str: [5, true, {}, []],
  int: ['5', 1.5, {}, true],
  num: ['5', {}, true],
  bool: ['true', 1, {}],
  ts: ['yesterday', '2027-02-30T00:00:00Z', 5],
  date: ['yesterday', '2027-02-30', 5],
  json: [],
  obj: [[], 'text', 5],
  list: ['text', {}, 5],
  enum: ['no_such_word', 5, {}],
};
