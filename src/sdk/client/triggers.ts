import type { Json } from '../../core/json.ts';
import { type CallOptions, segment, type Send } from './send.ts';
import { unlessGone } from './sequences.ts';
import type { Fired, NewTrigger, Trigger } from './wire.ts';

export type Triggers = ReturnType<typeof triggerCalls>;

export function triggerCalls(send: Send, tenant: string | null) {
  return {
    create: (
      trigger: Omit<NewTrigger, 'tenant_id'> & { readonly tenant_id?: string },
      options: CallOptions = {},
    ) => {
      const body: NewTrigger = { ...trigger, tenant_id: trigger.tenant_id ?? tenant ?? '' };
      return send<Trigger>({ method: 'POST', path: '/triggers', body, idempotent: 'by_key' }, options);
    },
    /** Oldest first; default 100, at most 1000. */
    list: (filter: { readonly limit?: number } = {}, options: CallOptions = {}) =>
      send<readonly Trigger[]>(
        { method: 'GET', path: '/triggers', query: { ...filter }, idempotent: true },
        options,
      ),
    get: (slug: string, options: CallOptions = {}) =>
      send<Trigger>({ method: 'GET', path: `/triggers/${segment(slug)}`, idempotent: true }, options),
    delete: (slug: string, options: CallOptions = {}) =>
      unlessGone(
        send<undefined>({ method: 'DELETE', path: `/triggers/${segment(slug)}`, idempotent: true }, options),
      ),
    /** Starts an instance through the trigger; `payload` becomes its data. A trigger with a secret asks for it. */
    fire: (
      slug: string,
      payload: Json = {},
      { secret }: { readonly secret?: string } = {},
      options: CallOptions = {},
    ) => {
      const headers = secret === undefined ? {} : { 'x-trigger-secret': secret };
      const path = `/triggers/${segment(slug)}/fire`;
      return send<Fired>({ method: 'POST', path, body: payload, headers, idempotent: 'by_key' }, options);
    },
  };
}
