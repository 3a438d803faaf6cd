import { utf8Bytes } from '../../core/json.ts';
import { ReadTooLarge } from '../../ports/store/bounded-reads.ts';
import type { Run } from './database.ts';

/** Operations of which none answers more than `maxBytes` of JSON: others reject with `ReadTooLarge`. */
export function boundedRun(run: Run, maxBytes: number): Run {
  return async (operation) => {
    const answer = await run(operation);
    if (bytesOf(answer) > maxBytes) throw new ReadTooLarge(maxBytes);
    return answer;
  };
}

/** Of a value as JSON. */
export function bytesOf(value: unknown): number {
  const text = JSON.stringify(value instanceof Map ? [...value] : value);
  return text === undefined ? 0 : utf8Bytes(text);
}
