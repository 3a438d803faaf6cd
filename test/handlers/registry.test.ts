import { describe, expect, it } from 'vitest';
import { systemEntropy } from '../../src/adapters/system.ts';
import { builtInHandlers } from '../../src/engine/handlers/built-in.ts';
import { BUILT_IN_NAMES, handlerNameProblem } from '../../src/engine/handlers/handler-names.ts';
import { noopHandler } from '../../src/engine/handlers/noop.ts';
import { createHandlerRegistry } from '../../src/engine/handlers/registry.ts';
import type { StepHandler } from '../../src/ports/step-handler.ts';

const builtIns = builtInHandlers({
  effects: { send: async () => ({ ok: false, reason: 'network', message: 'not in this test' }) },
  entropy: systemEntropy,
});
const userHandler = (name: string): StepHandler => ({ ...noopHandler, name, kind: 'effect' });

function registryOf(...names: string[]) {
  const registry = createHandlerRegistry(builtIns, names.map(userHandler));
  if (!registry.ok) throw new Error(registry.error.join('; '));
  return registry.value;
}

describe('handler registry', () => {
  it('finds built-in and registered handlers by their name', () => {
    const registry = registryOf('charge', 'charge@2');
    expect(registry.lookup('http_request')).toMatchObject({ type: 'handler', handler: { kind: 'effect' } });
    expect(registry.lookup('charge@2')).toMatchObject({ type: 'handler', handler: { name: 'charge@2' } });
    expect(registry.lookup('Charge')).toEqual({ type: 'unknown' });
  });

  it('leaves sleep to the engine', () => {
    expect(registryOf().lookup('sleep')).toEqual({ type: 'engine' });
  });

  it.each([
    'continue_as_new',
    'llm_call',
    'embed',
    'agent',
    'mcp_call',
    'memory_store',
    'memory_search',
    'memory_delete',
  ])('answers HANDLER_NOT_AVAILABLE for %s (RULINGS B8)', (name) => {
    expect(registryOf().lookup(name)).toEqual({
      type: 'unavailable',
      failure: {
        message: `${name} is not available in this version`,
        retryable: false,
        code: 'HANDLER_NOT_AVAILABLE',
      },
    });
  });

  it.each(['ap://slack', 'grpc://pay', 'wasm://score', 'x-y+z://q'])(
    'fails the plugin name %s permanently [DISP-1]',
    (name) => {
      const failure = { code: 'PLUGIN_NOT_REGISTERED', retryable: false };
      expect(registryOf().lookup(name)).toMatchObject({ type: 'unavailable', failure });
    },
  );

  it('does not know names of workers, nor inherited ones [REG-3]', () => {
    for (const name of ['pay_invoice', 'constructor', '__proto__', 'toString', 'fn:main']) {
      expect(registryOf().lookup(name)).toEqual({ type: 'unknown' });
    }
  });

  it("lists the names that run here, and the user's apart", () => {
    const registry = registryOf('zeta', 'alpha');
    expect(registry.userNames).toEqual(['alpha', 'zeta']);
    expect(registry.names).toEqual([...registry.names].sort());
    expect(registry.names).toEqual(expect.arrayContaining(['alpha', 'assert', 'noop', 'sleep', 'zeta']));
    expect(registry.names).not.toContain('llm_call');
  });

  it('refuses built-in, later, malformed and repeated names all at once [REG-1]', () => {
    const names = ['noop', 'sleep', 'llm_call', 'two words', 'twice', 'twice'];
    const registry = createHandlerRegistry(builtIns, names.map(userHandler));
    expect(registry).toMatchObject({ ok: false });
    expect(registry.ok ? [] : registry.error).toHaveLength(5);
    expect(createHandlerRegistry([noopHandler, noopHandler])).toMatchObject({ ok: false });
  });

  it('takes names of up to 128 characters that begin with a letter or _ [REG-1]', () => {
    for (const name of ['a', '_x', 'fn:main', 'a.b-c', 'charge@2', 'a'.repeat(128)]) {
      expect(handlerNameProblem(name)).toBeNull();
    }
    for (const name of ['', '1a', '-a', 'a b', 'a/b', 'é', 'a'.repeat(129), ...BUILT_IN_NAMES]) {
      expect(handlerNameProblem(name)).not.toBeNull();
    }
  });
});
