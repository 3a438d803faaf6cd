import { type Json, isJsonObject } from './json.ts';
import { err, ok, type Result } from './result.ts';
import { storableText } from './storable-text.ts';

/** What a queue message says: look at this instance (DESIGN 5, RULINGS B15). Ids only, never data. */
export interface HintMessage {
  readonly tenantId: string;
  readonly instanceId: string;
  /** W3C trace context of whoever sent it. */
  readonly traceparent?: string;
}

/** Queues take far more; whatever is longer than this is not a hint. */
const BYTES_MAX = 1024;

/** Read by hand: it is all that a function which runs turns would need a schema library for when it starts. */
const isText = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';
/** Ids are text that the store takes: with a NUL in it every look at the instance would fail. */
const isId = (value: Json | undefined): value is string => isText(value) && storableText(value) === value;

/** The text of a message, in ASCII: queues differ in what they do to other characters. Null when it would be too long. */
export function encodeHintMessage(message: HintMessage): string | null {
  const { tenantId, instanceId, traceparent } = message;
  const wire = {
    v: 1,
    tenant: tenantId,
    instance: instanceId,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  const text = JSON.stringify(wire).replace(/[^\u0020-\u007e]/g, escaped);
  return text.length > BYTES_MAX ? null : text;
}

/** Reads a message; the error says what is wrong without repeating what stands in it. */
export function decodeHintMessage(text: string): Result<HintMessage, string> {
  if (text.length > BYTES_MAX) return err(`it has ${text.length} characters`);
  const json = parseJson(text);
  if (!json.ok) return json;
  if (!isJsonObject(json.value)) return err('wrong members: /');
  // Unknown members are dropped, so that a newer build may add some; another `v` means that they must be understood.
  const { v, tenant, instance, traceparent } = json.value;
  if (v === 1 && isId(tenant) && isId(instance)) {
    if (traceparent === undefined) return ok({ tenantId: tenant, instanceId: instance });
    if (isText(traceparent)) return ok({ tenantId: tenant, instanceId: instance, traceparent });
    return err('wrong members: /traceparent');
  }
  const wrong = [v !== 1 && '/v', !isId(tenant) && '/tenant', !isId(instance) && '/instance'];
  return err(`wrong members: ${wrong.filter((path) => path !== false).join(', ')}`);
}

function parseJson(text: string): Result<Json, string> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return err('it is not JSON');
  }
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
