import { MAX_DURATION_MS } from './times.ts';

/** `count` is a whole number from 0 ([H-7]). */
export type ParamKind = 'text' | 'count' | 'boolean' | 'object' | 'list' | 'any';

/** One param of a built-in handler. Without `default` an absent param means nothing is set. */
export interface ParamFacts {
  /** A value of any of these kinds is read; a value of another kind fails the step or counts as absent. */
  readonly kinds: readonly [ParamKind, ...ParamKind[]];
  readonly unit?: 'milliseconds' | 'bytes';
  readonly default?: string | number | boolean | null | Readonly<Record<string, never>>;
  /** The largest that is used; a larger one is cut to it. */
  readonly max?: number;
  /** The only texts that are read. */
  readonly values?: readonly string[];
  /** Letter case of `values` does not matter. */
  readonly anyCase?: true;
}

export interface HandlerParams {
  readonly params: Readonly<Record<string, ParamFacts>>;
  /** Of each group one is needed; a needed param with a default is one that nobody leaves out on purpose. */
  readonly needs: readonly (readonly string[])[];
  /** Params may have any name. */
  readonly open?: true;
}

const TEXT = { kinds: ['text'] } as const;
const ANY = { kinds: ['any'] } as const;
const EMPTY_OBJECT = { kinds: ['object'], default: {} } as const;
const MAX_ARTIFACT_BYTES = 26_214_400;
const ARTIFACT_BYTES = {
  kinds: ['count'],
  unit: 'bytes',
  default: MAX_ARTIFACT_BYTES,
  max: MAX_ARTIFACT_BYTES,
} as const;

function timeoutOf(defaultMs: number): ParamFacts & { readonly kinds: readonly ['count'] } {
  return { kinds: ['count'], unit: 'milliseconds', default: defaultMs };
}

/**
 * What the built-in handlers read (handlers.md 3 to 9): the one source of what a publish warns of, of the types of
 * `sequence()`, and of the tables in docs/handlers.md.
 */
export const BUILT_IN_PARAMS = {
  // It does nothing with whatever it gets, as a stand-in for a step to come does.
  noop: { params: {}, needs: [], open: true },
  log: {
    params: {
      message: { kinds: ['any'], default: 'no message' },
      level: { kinds: ['text'], values: ['debug', 'info', 'warn', 'error'], default: 'info' },
    },
    needs: [],
  },
  sleep: {
    params: {
      duration_ms: { kinds: ['count'], unit: 'milliseconds', default: 100, max: MAX_DURATION_MS },
    },
    needs: [['duration_ms']],
  },
  fail: {
    params: {
      message: { kinds: ['text'], default: 'forced failure' },
      retryable: { kinds: ['boolean'], default: false },
      code: TEXT,
      details: ANY,
    },
    needs: [],
  },
  transform: { params: {}, needs: [], open: true },
  assert: {
    params: { condition: TEXT, message: { kinds: ['text'], default: 'assertion failed' } },
    needs: [['condition']],
  },
  set_state: { params: { key: TEXT, value: ANY }, needs: [['key'], ['value']] },
  get_state: { params: { key: TEXT }, needs: [['key']] },
  delete_state: { params: { key: TEXT }, needs: [['key']] },
  merge_state: { params: { values: { kinds: ['object'] } }, needs: [['values']] },
  http_request: {
    params: {
      url: TEXT,
      method: {
        kinds: ['text'],
        values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
        anyCase: true,
        default: 'GET',
      },
      headers: EMPTY_OBJECT,
      body: TEXT,
      json: ANY,
      timeout_ms: timeoutOf(10_000),
      response_as: { kinds: ['text'], values: ['text', 'json', 'artifact'], default: 'text' },
      max_response_bytes: { kinds: ['count'], unit: 'bytes', default: 10_485_760, max: 10_485_760 },
    },
    needs: [['url']],
  },
  tool_call: {
    params: {
      url: TEXT,
      tool_name: { kinds: ['text'], default: 'unknown' },
      arguments: { kinds: ['any'], default: {} },
      method: {
        kinds: ['text'],
        values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        anyCase: true,
        default: 'POST',
      },
      headers: EMPTY_OBJECT,
      timeout_ms: timeoutOf(30_000),
      response_as: { kinds: ['text'], values: ['artifact'] },
      body_artifact: { kinds: ['text', 'object'] },
      upload: { kinds: ['object'] },
    },
    needs: [['url']],
  },
  emit_event: {
    params: {
      trigger_slug: TEXT,
      data: { kinds: ['any'], default: {} },
      meta: { kinds: ['any'], default: {} },
      dedupe_key: TEXT,
      dedupe_scope: { kinds: ['text'], values: ['parent', 'tenant'], default: 'parent' },
    },
    needs: [['trigger_slug']],
  },
  send_signal: {
    params: {
      instance_id: TEXT,
      signal_type: { kinds: ['text', 'object'] },
      payload: { kinds: ['any'], default: null },
    },
    needs: [['instance_id'], ['signal_type']],
  },
  query_instance: { params: { instance_id: TEXT }, needs: [['instance_id']] },
  wait_for_event: {
    params: {
      events: { kinds: ['text', 'list'] },
      correlation_key: TEXT,
      join: { kinds: ['text'], values: ['all', 'any', 'count'], default: 'all' },
      count: { kinds: ['count'] },
    },
    needs: [['events'], ['correlation_key']],
  },
  human_review: {
    params: {
      review_data: { kinds: ['any'], default: null },
      instructions: { kinds: ['text'], default: '' },
      reviewer: { kinds: ['text'], default: 'unassigned' },
      notify_url: TEXT,
      notify_headers: EMPTY_OBJECT,
    },
    needs: [],
  },
  self_modify: {
    params: { blocks: { kinds: ['list'] }, position: { kinds: ['count'] } },
    needs: [['blocks']],
  },
  blob_put: {
    params: { text: TEXT, data: TEXT, content_type: TEXT, max_size_bytes: ARTIFACT_BYTES },
    needs: [['text', 'data']],
  },
  blob_get: {
    params: {
      ref: { kinds: ['text', 'object'] },
      encoding: { kinds: ['text'], values: ['base64', 'utf8', 'text'], default: 'base64' },
      max_size_bytes: ARTIFACT_BYTES,
    },
    needs: [['ref']],
  },
} as const satisfies Readonly<Record<string, HandlerParams>>;

const BY_NAME: ReadonlyMap<string, HandlerParams> = new Map(Object.entries(BUILT_IN_PARAMS));

/** The params of a built-in handler; undefined for every other handler. */
export function builtInParams(handler: string): HandlerParams | undefined {
  return BY_NAME.get(handler);
}

/** What a param takes, in words: `whole number, milliseconds, at most 5000`. */
export function paramTakes(facts: ParamFacts): string {
  if (facts.values !== undefined) return facts.values.map((value) => `"${value}"`).join(' or ');
  const kinds = facts.kinds.map((kind) => KIND_WORDS[kind]).join(' or ');
  const unit = facts.unit === undefined ? '' : `, ${facts.unit}`;
  return `${kinds}${unit}${facts.max === undefined ? '' : `, at most ${facts.max}`}`;
}

const KIND_WORDS: Readonly<Record<ParamKind, string>> = {
  text: 'text',
  count: 'whole number',
  boolean: 'true or false',
  object: 'object',
  list: 'list',
  any: 'any JSON',
};
