import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Json, type JsonObject, member } from '../json.ts';
import { redactedExcerpt } from '../redaction.ts';
import { type Classified, classify, statusOf } from './classify.ts';

/** One failed instance as the groups of dead letters see it. */
export interface FailedRun {
  readonly sequenceName: string;
  readonly version: number;
  readonly blockId: string | null;
  /** Handler of the failed step; null when the block is no step or is not known. */
  readonly handler: string | null;
  /** `{message, code?, details?}` as recorded. */
  readonly error: JsonObject;
}

export interface Fingerprint extends Classified {
  /** 16 hex digits. */
  readonly fingerprint: string;
  /** What the fingerprint is made of, in order; never payload data. */
  readonly components: readonly string[];
}

/** Failures with one fingerprint are taken for the same problem (http-api.md 9). */
export function fingerprintOf(run: FailedRun): Fingerprint {
  const details: Json | undefined = member(run.error, 'details');
  const status = statusOf(details);
  const classified = classify(textOf(member(run.error, 'code')), status);
  const components = [
    `seq:${run.sequenceName}`,
    `v:${run.version}`,
    `block:${run.blockId ?? ''}`,
    `handler:${run.handler ?? ''}`,
    `class:${classified.errorClass}`,
    `code:${classified.code}`,
    `status:${status ?? ''}`,
    `resource:${textOf(member(details, 'resource')) ?? ''}`,
    `msg:${normalisedMessage(textOf(member(run.error, 'message')) ?? '')}`,
  ];
  return { ...classified, components, fingerprint: fnv1a64(components.join('\u001f')) };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

const PLACEHOLDERS: ReadonlyArray<readonly [RegExp, string]> = [
  [/"[^"]*"|'[^']*'|`[^`]*`/g, '<text>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b/g, '<time>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<hex>'],
  [/\d+(?:\.\d+)?/g, '<n>'],
];

const MESSAGE_CHARACTERS_MAX = 500;

/** The message without what differs from run to run, and without what looks like a secret. */
export function normalisedMessage(message: string): string {
  const cut = redactedExcerpt(message).slice(0, MESSAGE_CHARACTERS_MAX);
  return PLACEHOLDERS.reduce((text, [pattern, placeholder]) => text.replaceAll(pattern, placeholder), cut);
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** FNV-1a with 64 bits over the UTF-8 bytes, as 16 hex digits. */
export function fnv1a64(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of utf8ToBytes(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash.toString(16).padStart(16, '0');
}
