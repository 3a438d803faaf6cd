import { basename } from 'node:path';
import { createOutboundClient } from '../adapters/http/outbound-client.ts';
import { loadHandlersFile } from '../adapters/local/load-handlers.ts';
import { systemClock, systemEntropy } from '../adapters/system.ts';
import type { Advice } from '../core/advice.ts';
import { err, ok, type Result } from '../core/result.ts';
import { builtInHandlers } from '../engine/handlers/built-in.ts';
import { handlerNameProblem } from '../engine/handlers/handler-names.ts';
import { createHandlerRegistry, type HandlerRegistry } from '../engine/handlers/registry.ts';
import type { StepHandler } from '../ports/step-handler.ts';
import { collectHandlers } from '../sdk/collect-handlers.ts';
import { toStepHandler } from '../sdk/step-handler.ts';
import type { Settings } from '../settings/schema.ts';

/** The built-in handlers and those of the user's file. */
export async function loadRegistry(
  settings: Settings,
  version: string,
): Promise<Result<HandlerRegistry, Advice>> {
  const { allowInternalUrls: allowInternal } = settings;
  const effects = createOutboundClient({
    clock: systemClock,
    userAgent: `stepwell/${version}`,
    allowInternal,
  });
  const users = settings.handlers === undefined ? ok([]) : await loadUserHandlers(settings.handlers);
  if (!users.ok) return users;
  const builtIns = builtInHandlers({ effects, entropy: systemEntropy, allowInternal });
  const registry = createHandlerRegistry(builtIns, users.value);
  if (registry.ok) return registry;
  return err({
    message: registry.error.join('; '),
    next: 'Rename the handlers and the steps that use them.',
  });
}

async function loadUserHandlers(path: string): Promise<Result<readonly StepHandler[], Advice>> {
  const module = await loadHandlersFile(path);
  if (!module.ok) return module;
  const defined = collectHandlers(module.value, basename(path), handlerNameProblem);
  return defined.ok ? ok(defined.value.map((handler) => toStepHandler(handler, systemClock))) : defined;
}
