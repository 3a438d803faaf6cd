import type { HttpEffects } from '../../ports/effects.ts';
import type { StepHandler } from '../../ports/step-handler.ts';
import type { Entropy } from '../../ports/system.ts';
import { createAssertHandler } from './assert.ts';
import { blobGetHandler, blobPutHandler } from './blobs.ts';
import { emitEventHandler } from './emit-event.ts';
import { failHandler } from './fail.ts';
import { createHttpRequestHandler, type HttpRequestSettings } from './http-request.ts';
import { createHumanReviewHandler } from './human-review.ts';
import { logHandler } from './log.ts';
import { noopHandler } from './noop.ts';
import { queryInstanceHandler } from './query-instance.ts';
import { selfModifyHandler } from './self-modify.ts';
import { sendSignalHandler } from './send-signal.ts';
import { deleteStateHandler, getStateHandler, mergeStateHandler, setStateHandler } from './state.ts';
import { createToolCallHandler } from './tool-call.ts';
import { transformHandler } from './transform.ts';
import { waitForEventHandler } from './wait-for-event.ts';

export interface BuiltInParts extends HttpRequestSettings {
  readonly effects: HttpEffects;
  readonly entropy: Entropy;
}

/** The built-in handlers. They need nothing of the engine but the call itself, randomness and the network. */
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
    createToolCallHandler(parts.effects, parts),
    createHumanReviewHandler(parts.effects, parts),
    selfModifyHandler,
    sendSignalHandler,
    queryInstanceHandler,
    emitEventHandler,
    waitForEventHandler,
    blobPutHandler,
    blobGetHandler,
  ];
}
