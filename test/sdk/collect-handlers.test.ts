import { describe, expect, it } from 'vitest';
import { handlerNameProblem } from '../../src/engine/handlers/handler-names.ts';
import { collectHandlers } from '../../src/sdk/collect-handlers.ts';
import { defineHandler } from '../../src/sdk/handler.ts';

const one = defineHandler('one', {}, () => 1);
const two = defineHandler('two', {}, () => 2);

const namesIn = (module: object) => {
  const handlers = collectHandlers(module, 'handlers.ts', handlerNameProblem);
  return handlers.ok ? handlers.value.map(({ name }) => name) : handlers.error;
};

describe('collecting handlers of a module', () => {
  it('takes named exports, a default one and a default array, each handler once', () => {
    expect(namesIn({ one, two })).toEqual(['one', 'two']);
    expect(namesIn({ default: one })).toEqual(['one']);
    const others = { helper: () => 1, settings: { a: 1 }, nothing: null };
    expect(namesIn({ default: [one, two], one, ...others })).toEqual(['one', 'two']);
  });

  it('refuses a module without handlers and shows how to write one', () => {
    const advice = {
      message: 'handlers.ts exports no handler',
      next: expect.stringContaining('export const hello = defineHandler('),
    };
    for (const module of [{}, { default: [] }, { one: () => 1 }]) expect(namesIn(module)).toEqual(advice);
  });

  it('refuses an array with something else in it', () => {
    expect(namesIn({ default: [one, () => 2] })).toMatchObject({
      message: 'item 1 of the default export of handlers.ts is no handler',
    });
  });

  it('REG-1 refuses duplicate, built-in and malformed names', () => {
    const named = (name: string) => defineHandler(name, {}, () => null);
    expect(namesIn({ one, again: named('one') })).toMatchObject({
      message: 'handlers.ts: two handlers are called one',
      next: 'Give one of them another name, for example one@2.',
    });
    for (const name of ['http_request', 'sleep', 'llm_call', 'two words']) {
      expect(namesIn({ x: named(name) })).toMatchObject({ message: expect.stringContaining(name) });
    }
  });
});
