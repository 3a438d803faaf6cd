import { canonicalJson, type Json, member } from '../../core/json.ts';
import type { LogLevel, StepHandler } from '../../ports/step-handler.ts';
import { lineText } from '../../core/storable-text.ts';

/**
 * `log` (handlers.md 3.2): writes `message` (any JSON, default `no message` when the member is absent) with `level`
 * (default `info`) and returns `{"message": <as given>}`. Never fails.
 */
export const logHandler: StepHandler = {
  name: 'log',
  kind: 'pure',
  run: (call) => {
    const given = member(call.params, 'message');
    // Only an absent member gets the default text; a null given by the author stays null.
    const message = given === undefined ? 'no message' : given;
    call.log(
      levelOf(member(call.params, 'level')),
      lineText(typeof message === 'string' ? message : canonicalJson(message)),
    );
    return { ok: true, output: { message } };
  },
};

function levelOf(value: Json | undefined): LogLevel {
  return value === 'debug' || value === 'warn' || value === 'error' ? value : 'info';
}
