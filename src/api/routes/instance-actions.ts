import { patchContext } from '../../engine/patch-context.ts';
import { sendSignal } from '../../engine/send-signal.ts';
import { retryInstance, setState } from '../../engine/set-state.ts';
import { created, defineBodyRoute, defineRoute, emptyOkay, okay } from '../route.ts';
import {
  ContextPatchBody,
  ContextPatchQuery,
  Retried,
  SignalBody,
  SignalSent,
  StatePatchBody,
} from '../schemas/actions.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'instance actions';

const patchState = defineBodyRoute({
  method: 'PATCH',
  path: '/instances/{id}/state',
  tag,
  summary: 'Set the state by hand',
  params: IdPath,
  query: NoParameters,
  body: StatePatchBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const { state, next_fire_at: nextFireAt } = body;
    const changed = await setState(deps, caller, { instanceId: path.id, state, nextFireAt });
    return changed.ok ? emptyOkay : changed;
  },
});

const patch = defineBodyRoute({
  method: 'PATCH',
  path: '/instances/{id}/context',
  tag,
  summary: 'Replace sections of the context, or merge into them',
  params: IdPath,
  query: ContextPatchQuery,
  body: ContextPatchBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, filter, body }) => {
    const patched = await patchContext(deps, caller, {
      instanceId: path.id,
      sections: body.context,
      mode: filter.mode,
    });
    return patched.ok ? emptyOkay : patched;
  },
});

const signal = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/signals',
  tag,
  summary: 'Send a signal',
  params: IdPath,
  query: NoParameters,
  body: SignalBody,
  responses: { 201: SignalSent, 200: SignalSent },
  handle: async (deps, { caller, path, body }) => {
    const sent = await sendSignal(deps, caller, {
      instanceId: path.id,
      signalType: body.signal_type,
      payload: body.payload,
      signalId: body.signal_id,
      deliveryId: body.delivery_id,
    });
    if (!sent.ok) return sent;
    const answer = { signal_id: sent.value.signalId };
    return sent.value.repeated ? okay(answer) : created(answer);
  },
});

const retry = defineRoute({
  method: 'POST',
  path: '/instances/{id}/retry',
  tag,
  summary: 'Put a failed instance back to work',
  params: IdPath,
  query: NoParameters,
  responses: { 200: Retried },
  handle: async (deps, { caller, path }) => {
    const retried = await retryInstance(deps, caller, path.id);
    return retried.ok ? okay({ id: path.id, state: 'scheduled' }) : retried;
  },
});

export const instanceActionRoutes = [patchState, patch, signal, retry];
