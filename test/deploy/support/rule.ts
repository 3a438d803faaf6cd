import type { Edit, Evaluated } from './evaluate.ts';

/** Something that must hold of every deployment, and a mistake with which it does not. */
export interface Rule {
  readonly name: string;
  readonly holds: (evaluated: Evaluated) => void;
  readonly mistake: Edit;
}

export const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });
