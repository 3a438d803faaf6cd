import type { HttpEffects } from '../../ports/effects.ts';
import type { StepHandler } from '../../ports/step-handler.ts';
import type { Entropy } from '../../ports/system.ts';
import { createAssertHandler } from './assert.ts';
import { failHandler } from './fail.ts';
import { createHttpRequestHandler, type HttpRequestSettings } from './http-request.ts';
import { logHandler } from './log.ts';
import { noopHandler } from './noop.ts';
import { deleteStateHandler, getStateHandler, mergeStateHandler, setStateHandler } from './state.ts';
import { transformHandler } from './transform.ts';

export interface BuiltInParts extends HttpRequestSettings {
  readonly effects: HttpEffects;
  readonly entropy: Entropy;
}

/** The built-in handlers that need nothing of the engine but the call itself, randomness and the network. */
export function builtInHandlers(parts: BuiltInParts): readonly StepHandler[] {
  return [
    noopHandler,
    logHandler,
    failHandler,
    transformHandler,
    createAssertHandler(parts.entropy),
    setStateHandler,
    getStateHandler,
    mergeStateHandler,
    deleteStateHandler,
    createHttpRequestHandler(parts.effects, parts),
  ];
}
