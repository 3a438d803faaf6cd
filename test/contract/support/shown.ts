import type { Shown } from '../tables/fields.ts';

/** How a member is shown, in the words of the tables. What the tables do not ask for is not looked at. */
export function shownAs(view: object, name: string, asked: Shown): Shown {
  if (asked === 'not shown') return asked;
  return Object.hasOwn(view, name) ? { is: Reflect.get(view, name) } : 'omitted';
}

/** The same word for what the tables want. */
export function wantedAs(shown: Shown): Shown {
  return shown === 'null' ? { is: null } : shown;
}
