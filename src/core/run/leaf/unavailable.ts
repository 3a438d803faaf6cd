import type { ErrorCode } from '../../error-codes.ts';
import type { Failure } from '../../failure.ts';

/** True for `ap://…`, `grpc://…`, `wasm://…` and other plugin names [DISP-1]. */
export function isPluginName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(name);
}

/** Nobody executes this handler and nobody will: the step fails at once and waits for no worker ([DISP-1], RULINGS B8). */
export function unavailableFailure(handler: string): Failure {
  const [code, why]: readonly [ErrorCode, string] = isPluginName(handler)
    ? ['PLUGIN_NOT_REGISTERED', `no plugin is registered for ${handler}`]
    : ['HANDLER_NOT_AVAILABLE', `${handler} is not available in this version`];
  return { message: why, retryable: false, code };
}
