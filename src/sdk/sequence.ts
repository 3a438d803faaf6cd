import { parseSequence } from '../core/definition/parse-sequence.ts';
import { toJson } from '../core/call-output.ts';
import type { WithKnownParams } from './checked-params.ts';
import type { SequenceDraft } from './sequence-draft.ts';

/** Stands for what is filled in later, so that the rest can be checked now. */
const PLACEHOLDERS = {
  id: '00000000-0000-4000-8000-000000000000',
  tenant_id: 'default',
  namespace: 'default',
  version: 1,
  created_at: '2000-01-01T00:00:00Z',
};

/**
 * A sequence in TypeScript. It is the JSON document itself, with the compiler looking at its shape; limits and the rest
 * of the rules are checked when the module is loaded, as a publish would (sequences.md 3). Params of built-in handlers that
 * are written in place are looked at by the compiler, too.
 *
 *     export const hello = sequence({
 *       name: 'hello',
 *       blocks: [{ type: 'step', id: 'greet', handler: 'transform', params: { text: 'Hello, {{data.name}}!' } }],
 *     });
 *
 * Answers the draft unchanged. Throws a TypeError that lists every problem.
 */
export function sequence<const Draft extends SequenceDraft>(draft: Draft & WithKnownParams<Draft>): Draft {
  // Members that are undefined count as left out, as they do in the text that is sent.
  const json = toJson({ ...PLACEHOLDERS, ...draft });
  if (!json.ok) throw new TypeError(`sequence ${draft.name} cannot be published: it holds ${json.error}`);
  const parsed = parseSequence(json.value);
  if (parsed.ok) return draft;
  const problems = parsed.error.details.map(
    ({ path, message }) => `  ${path === '' ? 'document' : path}: ${message}`,
  );
  throw new TypeError(`sequence ${draft.name} cannot be published:\n${problems.join('\n')}`);
}
