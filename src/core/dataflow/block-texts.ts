import type { Block } from '../definition/document.ts';
import { isJsonArray, type Json } from '../json.ts';

/** The strings of a block in which references are looked for (http-api.md 4.2); those of blocks inside it are their own. */
export function blockTexts(block: Block): readonly string[] {
  switch (block.type) {
    case 'step':
      return [...stringsIn(block.params ?? null), block.when ?? ''];
    case 'sub_sequence':
      return stringsIn(block.input);
    case 'router':
      return block.routes.map(({ condition }) => condition);
    case 'loop':
      return [block.condition, block.break_on ?? ''];
    case 'for_each':
      return [block.collection];
    case 'parallel':
    case 'race':
    case 'try_catch':
    case 'a_b_split':
    case 'cancellation_scope':
    case 'saga':
      return [];
  }
}

/** All strings of a value, keys not among them. */
function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return (isJsonArray(value) ? value : Object.values(value)).flatMap(stringsIn);
}
