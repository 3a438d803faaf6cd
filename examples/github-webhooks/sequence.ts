import type { JsonObject } from '../../src/core/json.ts';

/** Four tries within about a second; enough for a service that says 503 now and then. */
const RETRY = { max_attempts: 6, initial_backoff: 50, max_backoff: 400, backoff_multiplier: 2 };

/**
 * A POST to the desk, the service of this example. `X-Effect` names what is done in the world, so that the desk can tell
 * later how often and under which idempotency keys it was asked for it. The engine adds the header Idempotency-Key.
 */
function post(desk: string, id: string, path: string, json: JsonObject, more: JsonObject = {}): JsonObject {
  const effect = path === 'commits' ? '{{instance_id}}/commits/{{commit.id}}' : `{{instance_id}}/${path}`;
  const params = { url: `${desk}/${path}`, method: 'POST', headers: { 'X-Effect': effect }, json };
  return { type: 'step', id, handler: 'http_request', params, retry: RETRY, timeout: 5000, ...more };
}

/** Issues: the flaky call is tried three times, then a person's queue gets the issue. */
function issueRoute(desk: string): JsonObject {
  return {
    condition: "outputs.summary.kind == 'issue'",
    blocks: [
      {
        type: 'try_catch',
        id: 'labelling',
        try_block: [
          post(
            desk,
            'label',
            'labels',
            { title: '{{outputs.summary.subject}}' },
            { retry: { ...RETRY, max_attempts: 3 } },
          ),
        ],
        catch_block: [
          post(desk, 'triage', 'triage', {
            title: '{{outputs.summary.subject}}',
            because: '{{data._error.errors.0.message}}',
          }),
        ],
        finally_block: [
          {
            type: 'step',
            id: 'note',
            handler: 'log',
            params: { message: 'issue {{data.issue.number}} is sorted' },
          },
        ],
      },
    ],
  };
}

/** Pull requests: three checks at once, then a person decides, then the decision is carried out. */
function pullRequestRoute(desk: string): JsonObject {
  const number = '{{data.pull_request.number}}';
  return {
    condition: "outputs.summary.kind == 'pull_request'",
    blocks: [
      {
        type: 'parallel',
        id: 'checks',
        branches: [
          [post(desk, 'build', 'builds', { number, sha: '{{data.pull_request.head.sha}}' })],
          [post(desk, 'scan', 'scans', { number })],
          [
            {
              type: 'step',
              id: 'announce',
              handler: 'announce',
              params: { desk, effect: '{{instance_id}}/announcements', text: '{{outputs.summary.subject}}' },
            },
          ],
        ],
      },
      {
        type: 'step',
        id: 'approval',
        handler: 'noop',
        wait_for_input: {
          prompt: 'Merge "{{outputs.summary.subject}}"?',
          choices: [
            { label: 'Merge', value: 'merge' },
            { label: 'Hold', value: 'hold' },
          ],
          store_as: 'verdict',
          allow_comment: true,
        },
      },
      {
        type: 'router',
        id: 'decision',
        routes: [
          { condition: "data.verdict == 'merge'", blocks: [post(desk, 'merge', 'merges', { number })] },
        ],
        default: [post(desk, 'hold', 'holds', { number })],
      },
    ],
  };
}

/** Pushes: one call per commit. */
function pushRoute(desk: string): JsonObject {
  return {
    condition: "outputs.summary.kind == 'push'",
    blocks: [
      {
        type: 'for_each',
        id: 'commits',
        collection: 'data.commits',
        item_var: 'commit',
        body: [post(desk, 'record', 'commits', { sha: '{{commit.id}}', message: '{{commit.message}}' })],
      },
    ],
  };
}

/** The sequence that each webhook starts; `desk` is the address of the service. */
export function githubSequence(desk: string): JsonObject {
  return {
    name: 'github-webhook',
    namespace: 'default',
    blocks: [
      { type: 'step', id: 'summary', handler: 'summarise_event', params: { event: '{{data}}' } },
      {
        type: 'router',
        id: 'by_content',
        routes: [issueRoute(desk), pullRequestRoute(desk), pushRoute(desk)],
        default: [
          {
            type: 'step',
            id: 'other',
            handler: 'log',
            params: { message: 'nothing to do for {{outputs.summary.subject}}' },
          },
        ],
      },
      post(desk, 'digest', 'digests', { line: '{{outputs.summary.subject}}' }),
    ],
  };
}
