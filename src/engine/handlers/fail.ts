import { member } from '../../core/json.ts';
import type { StepHandler } from '../../ports/step-handler.ts';
import { textOr } from './params.ts';

/**
 * `fail` (handlers.md 3.4): always fails with `message` (default `forced failure`), `code` and `details` as given;
 * permanent unless `retryable` is `true`.
 */
export const failHandler: StepHandler = {
  name: 'fail',
  kind: 'pure',
  run: ({ params }) => {
    const code = textOr(params, 'code', '');
    const details = member(params, 'details');
    return {
      ok: false,
      failure: {
        message: textOr(params, 'message', 'forced failure'),
        retryable: member(params, 'retryable') === true,
        ...(code === '' ? {} : { code }),
        ...(details === undefined ? {} : { details }),
      },
    };
  },
};
