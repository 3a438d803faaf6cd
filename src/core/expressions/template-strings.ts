import { isJsonArray, type Json } from '../json.ts';
import { pointerStep } from './language-error.ts';
import { RESOLVED_LEVELS_MAX } from './limits.ts';

/** A string and the JSON pointer to it. */
export interface PlacedString {
  readonly text: string;
  readonly pointer: string;
}

/** The strings of a value that may hold templates, down to the depth that can be resolved. Keys are not among them. */
export function templateStrings(value: Json): readonly PlacedString[] {
  const strings: PlacedString[] = [];
  collect(value, '', RESOLVED_LEVELS_MAX, strings);
  return strings;
}

function collect(value: Json, pointer: string, levels: number, strings: PlacedString[]): void {
  if (typeof value === 'string') {
    if (value.includes('{{')) strings.push({ text: value, pointer });
    return;
  }
  if (value === null || typeof value !== 'object' || levels === 0) return;
  const entries: Iterable<readonly [string | number, Json]> = isJsonArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, child] of entries) collect(child, pointer + pointerStep(key), levels - 1, strings);
}
