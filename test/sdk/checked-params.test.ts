import { describe, expect, it } from 'vitest';
import { type BlockDraft, sequence } from '../../src/sdk/index.ts';

const step = <const Step extends object>(id: string, rest: Step) => ({ type: 'step', id, ...rest }) as const;

describe('params of built-in handlers in sequence()', () => {
  it('are accepted as the handlers read them, templates included', () => {
    const drafted = sequence({
      name: 'fine',
      blocks: [
        { type: 'step', id: 'a', handler: 'sleep', params: { duration_ms: 172_800_000 } },
        { type: 'step', id: 'b', handler: 'sleep', params: { duration_ms: '{{data.pause}}' } },
        { type: 'step', id: 'c', handler: 'sleep', params: '{{data.sleep}}' },
        {
          type: 'step',
          id: 'd',
          handler: 'http_request',
          params: { url: 'https://a.example', method: 'post', body: null },
        },
        { type: 'step', id: 'e', handler: 'transform', params: { any: { thing: 1 } } },
        { type: 'step', id: 'f', handler: 'charge', params: { cents: 5 } },
        { type: 'step', id: 'g', handler: 'log' },
        { type: 'step', id: 'h', handler: 'log', params: { note: 1 }, fallback_handler: 'charge' },
        {
          type: 'step',
          id: 'i',
          handler: 'wait_for_event',
          params: { events: ['x'], correlation_key: 'k' },
          wait_for_input: {},
        },
        { type: 'step', id: 'j', handler: 'blob_put', params: { text: 'x' } },
        step('k', { handler: 'set_state', params: { key: 'k', value: null } }),
      ],
    });
    expect(drafted.blocks).toHaveLength(11);
    const wide: readonly BlockDraft[] = [{ type: 'step', id: 'a', handler: 'sleep', params: { seconds: 1 } }];
    expect(sequence({ name: 'wide', blocks: wide }).blocks).toBe(wide);
  });

  it('are an error of the compiler where no handler reads them, and where one is missing or cannot be used', () => {
    const seconds = () =>
      sequence({
        name: 'x',
        blocks: [
          {
            type: 'step',
            id: 'a',
            handler: 'sleep',
            // @ts-expect-error: a sleep knows no seconds
            params: { duration_ms: 5, seconds: 2 },
          },
        ],
      });
    const words = () =>
      sequence({
        name: 'x',
        blocks: [
          {
            type: 'step',
            id: 'a',
            handler: 'sleep',
            // @ts-expect-error: nor a duration in words
            params: { duration_ms: '2d' },
          },
        ],
      });
    const missing = () =>
      sequence({
        name: 'x',
        blocks: [
          // @ts-expect-error: and needs one
          { type: 'step', id: 'a', handler: 'sleep' },
          {
            type: 'step',
            id: 'b',
            handler: 'http_request',
            // @ts-expect-error: as a request needs an address
            params: { method: 'GET' },
          },
        ],
      });
    const nested = () =>
      sequence({
        name: 'x',
        blocks: [
          {
            type: 'saga',
            id: 's',
            steps: [
              {
                id: 'one',
                action: {
                  type: 'step',
                  id: 'a',
                  handler: 'log',
                  // @ts-expect-error: in a block of a block, too
                  params: { level: 'loud' },
                },
              },
            ],
          },
        ],
        on_failure: [
          {
            type: 'step',
            id: 'a',
            handler: 'log',
            // @ts-expect-error: and in a cleanup list
            params: { text: 'x' },
          },
        ],
      });
    const drafts = [seconds, words, missing, nested];
    for (const draft of drafts) expect(draft).not.toThrow();
  });
});
