import type { Compensation, Delay, HumanInput, RetryPolicy, SendWindow, StepBlock } from './document.ts';
import { checkDuration, checkExpression, checkNotBlank, type Report } from './limit-checks.ts';
import { isKnownTimeZone, isLocalDate, isLocalDateTime } from './local-time.ts';
import { shorten } from './path.ts';

const MAX_ATTEMPTS = 65_535;
const MAX_DEPENDENCIES = 256;

/** The limits of a step and of what it carries (LIM-5, LIM-15 to LIM-18, LIM-20, LIM-21). */
export function checkStep(step: StepBlock, report: Report): void {
  if (step.handler === '') report('LIM-5', 'handler must not be empty', ['handler']);
  checkExpression(step.when, ['when'], report);
  checkDuration(step.timeout, ['timeout'], report);
  checkDuration(step.deadline, ['deadline'], report);
  checkNotBlank(step.pool, ['pool'], 'B24', report);
  if (step.delay !== undefined) checkDelay(step.delay, report);
  if (step.send_window !== undefined) checkSendWindow(step.send_window, report);
  if (step.wait_for_input !== undefined) checkHumanInput(step.wait_for_input, report);
  if (step.retry !== undefined) checkRetry(step.retry, report);
  if (step.compensation !== undefined) checkCompensation(step.id, step.compensation, report);
}

/** LIM-15. */
function checkRetry(retry: RetryPolicy, report: Report): void {
  const at = (name: string) => ['retry', name];
  if (retry.max_attempts < 1 || retry.max_attempts > MAX_ATTEMPTS) {
    report('LIM-15', `max_attempts must be between 1 and ${MAX_ATTEMPTS}`, at('max_attempts'));
  }
  if (retry.backoff_multiplier <= 0) {
    report('LIM-15', 'backoff_multiplier must be > 0', at('backoff_multiplier'));
  }
  if (retry.initial_backoff > retry.max_backoff) {
    report('LIM-15', 'initial_backoff must not be greater than max_backoff', at('initial_backoff'));
  }
  checkDuration(retry.initial_backoff, at('initial_backoff'), report);
  checkDuration(retry.max_backoff, at('max_backoff'), report);
  checkNotBlank(retry.retry_if, at('retry_if'), 'LIM-15', report);
  checkExpression(retry.retry_if, at('retry_if'), report);
  for (const [index, code] of (retry.non_retryable_codes ?? []).entries()) {
    if (code.trim() === '') {
      report('LIM-15', 'non_retryable_codes must not contain blank entries', [
        ...at('non_retryable_codes'),
        index,
      ]);
    }
  }
}

function checkSendWindow(window: SendWindow, report: Report): void {
  const at = (name: string) => ['send_window', name];
  for (const name of ['start_hour', 'end_hour'] as const) {
    if (window[name] < 0 || window[name] > 23) report('LIM-16', `${name} must be between 0 and 23`, at(name));
  }
  if (window.start_hour === window.end_hour) {
    report('LIM-16', 'start_hour and end_hour must differ', at('end_hour'));
  }
  for (const [index, day] of window.days.entries()) {
    if (day < 0 || day > 6) report('LIM-16', 'days must be between 0 and 6', [...at('days'), index]);
  }
}

function checkHumanInput(gate: HumanInput, report: Report): void {
  const at = (name: string) => ['wait_for_input', name];
  checkDuration(gate.timeout, at('timeout'), report);
  if (gate.choices.length === 0) report('LIM-17', 'choices must not be empty', at('choices'));
  const values = new Set<string>();
  for (const [index, { value }] of gate.choices.entries()) {
    const path = [...at('choices'), index, 'value'];
    if (value === '') report('LIM-17', 'the value of a choice must not be empty', path);
    else if (values.has(value)) report('LIM-17', `duplicate choice value '${shorten(value)}'`, path);
    values.add(value);
  }
  if (gate.store_as === '') report('LIM-17', 'store_as must not be empty', at('store_as'));
}

function checkCompensation(stepId: string, compensation: Compensation, report: Report): void {
  const at = (name: string) => ['compensation', name];
  checkNotBlank(compensation.handler, at('handler'), 'LIM-18', report);
  const dependencies = compensation.depends_on ?? [];
  if (dependencies.length > MAX_DEPENDENCIES) {
    report('LIM-18', `depends_on has at most ${MAX_DEPENDENCIES} entries`, at('depends_on'));
  }
  if (dependencies.includes(stepId)) {
    report('LIM-18', 'depends_on must not contain the step itself', at('depends_on'));
  }
  if (new Set(dependencies).size < dependencies.length) {
    report('LIM-18', 'depends_on must not contain duplicates', at('depends_on'));
  }
}

function checkDelay(delay: Delay, report: Report): void {
  const at = (name: string) => ['delay', name];
  checkDuration(delay.duration, at('duration'), report);
  checkDuration(delay.jitter, at('jitter'), report);
  if (delay.fire_at_local !== undefined && !isLocalDateTime(delay.fire_at_local)) {
    report('LIM-20', 'fire_at_local must be a real date and time, YYYY-MM-DDTHH:MM:SS', at('fire_at_local'));
  }
  for (const [index, holiday] of delay.holidays.entries()) {
    if (!isLocalDate(holiday)) {
      report('LIM-20', 'a holiday must be a real date, YYYY-MM-DD', [...at('holidays'), index]);
    }
  }
  if (delay.timezone !== undefined && !isKnownTimeZone(delay.timezone)) {
    report('LIM-20', `unknown time zone '${shorten(delay.timezone)}'`, at('timezone'));
  }
}
