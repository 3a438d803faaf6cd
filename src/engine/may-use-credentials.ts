import { hasReferences } from '../core/credentials/references.ts';
import type { HandlerCall } from './handler-call.ts';
import type { TurnDeps } from './turn-deps.ts';

/**
 * True when the params of a call refer to credentials and the handler takes them outside. Built-in handlers that only
 * compute would write what they are given into rows; they see the references as they stand ([CRED-3]).
 */
export function mayUseCredentials(deps: TurnDeps, { handler, dispatch }: HandlerCall): boolean {
  if (handler.kind === 'pure' && !deps.handlers.userNames.includes(handler.name)) return false;
  return hasReferences(dispatch.params);
}
