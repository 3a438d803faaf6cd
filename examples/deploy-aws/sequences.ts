import { type BlockDraft, sequence, type StepDraft } from 'stepwell';
import { DESK } from './desk.ts';

/** Tries within about a second; enough for a service that says 503 now and then. */
const RETRY = { initial_backoff: 50, max_backoff: 400, backoff_multiplier: 2 };

/** A POST to the desk. `X-Effect` says what is done; the engine adds the header Idempotency-Key. */
function post(id: string, path: string, json: Record<string, string>, maxAttempts = 6): StepDraft {
  const effect = path === 'commits' ? '{{instance_id}}/commits/{{commit.id}}' : `{{instance_id}}/${path}`;
  const params = { url: `${DESK}/${path}`, method: 'POST', headers: { 'X-Effect': effect }, json };
  const retry = { ...RETRY, max_attempts: maxAttempts };
  return { type: 'step', id, handler: 'http_request', params, retry, timeout: 5000 };
}

const subject = '{{outputs.summary.subject}}';
const number = '{{data.pull_request.number}}';

/** The flaky call is tried three times, then a person's queue gets the issue. */
const labelling: BlockDraft = {
  type: 'try_catch',
  id: 'labelling',
  try_block: [post('label', 'labels', { title: subject }, 3)],
  catch_block: [post('triage', 'triage', { title: subject, because: '{{data._error.errors.0.message}}' })],
  finally_block: [
    {
      type: 'step',
      id: 'note',
      handler: 'log',
      params: { message: 'issue {{data.issue.number}} is sorted' },
    },
  ],
};

/** Three checks at once. */
const checks: BlockDraft = {
  type: 'parallel',
  id: 'checks',
  branches: [
    [post('build', 'builds', { number, sha: '{{data.pull_request.head.sha}}' })],
    [post('scan', 'scans', { number })],
    [
      {
        type: 'step',
        id: 'announce',
        handler: 'announce',
        params: { effect: '{{instance_id}}/announcements', text: subject },
      },
    ],
  ],
};

/** A person decides; the run waits for days if it must, and costs nothing meanwhile. */
const approval: BlockDraft = {
  type: 'step',
  id: 'approval',
  handler: 'noop',
  wait_for_input: {
    prompt: `Merge "${subject}"?`,
    choices: [
      { label: 'Merge', value: 'merge' },
      { label: 'Hold', value: 'hold' },
    ],
    store_as: 'verdict',
    allow_comment: true,
  },
};

const decision: BlockDraft = {
  type: 'router',
  id: 'decision',
  routes: [{ condition: "data.verdict == 'merge'", blocks: [post('merge', 'merges', { number })] }],
  default: [post('hold', 'holds', { number })],
};

/** One call per commit. */
const commits: BlockDraft = {
  type: 'for_each',
  id: 'commits',
  collection: 'data.commits',
  item_var: 'commit',
  body: [post('record', 'commits', { sha: '{{commit.id}}', message: '{{commit.message}}' })],
};

/** What a webhook of GitHub starts. */
export const githubWebhook = sequence({
  name: 'github-webhook',
  blocks: [
    { type: 'step', id: 'summary', handler: 'summarise_event', params: { event: '{{data}}' } },
    {
      type: 'router',
      id: 'by_content',
      routes: [
        { condition: "outputs.summary.kind == 'issue'", blocks: [labelling] },
        { condition: "outputs.summary.kind == 'pull_request'", blocks: [checks, approval, decision] },
        { condition: "outputs.summary.kind == 'push'", blocks: [commits] },
      ],
      default: [
        { type: 'step', id: 'other', handler: 'log', params: { message: `nothing to do for ${subject}` } },
      ],
    },
    post('digest', 'digests', { line: subject }),
  ],
});
