import type { Played } from './play.ts';

const STEPS = {
  before_step: { handler: 'effect:trace', params: { text: '{{data.who}}' } },
  after_step: { handler: 'effect:trace' },
};
export const members = { interceptors: STEPS };

/** Rows in their order: `<`, the result and `>` of a step; hidden rows of failures and retries are not listed. */
export function traceOf(run: Played): readonly string[] {
  return run.rows.flatMap((row) => {
    const [, when, ...id] = row.blockId.split(':');
    const at = row.iteration === '' ? '' : `@${row.iteration}`;
    const attempt = row.attempt === 0 ? '' : `#${row.attempt}`;
    if (row.kind === 'interceptor') {
      const mark = when === 'before' ? '<' : when === 'after' ? '>' : '';
      return mark === ''
        ? [row.blockId.slice('_interceptor:'.length)]
        : [`${mark}${id.join(':')}${at}${attempt}`];
    }
    return row.kind === 'result' || row.kind === 'error' ? [`${row.blockId}${at}${attempt}`] : [];
  });
}
