import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { isJsonArray, type Json, utf8Bytes } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { ELEMENT_WORK, spend, TEXT_BYTES_MAX } from './limits.ts';
import type { Evaluation } from './paths.ts';
import { percentEncode, percentEncodedLength } from './percent-encoding.ts';
import { readTarget } from './read-target.ts';
import type { Filter, Replacement } from './template-syntax.ts';
import { countText, splitText } from './text-search.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';
import { codePointsEnd, textOf, textSize } from './values.ts';
import { trimWhiteSpace } from './white-space.ts';

/** The result of a filter, or what is wrong. */
type Filtered = Result<Json, string>;

const TOO_LARGE = err(`gives more than ${TEXT_BYTES_MAX} bytes`);

/**
 * Applies a filter (expressions.md chapter 3). Filters whose result can be much larger than their input know its size
 * before they build it; the caller checks the others ([FIL-3]).
 */
export function applyFilter(filter: Filter, value: Json, evaluation: Evaluation): Filtered {
  const text = typeof value === 'string' ? value : '';
  switch (filter.name) {
    case 'upper':
      return ok(text.toUpperCase());
    case 'lower':
      return ok(text.toLowerCase());
    case 'trim':
      return ok(trimWhiteSpace(text));
    case 'abs':
      return ok(typeof value === 'number' ? Math.abs(value) : 0);
    case 'url_encode':
      return urlEncode(text);
    case 'base64':
      return base64(text);
    case 'base64_decode':
      return base64Decode(text);
    case 'hash':
      return ok(bytesToHex(sha256(encodeUtf8(text))));
    case 'default':
      return ok(value === null || value === '' ? filter.value : value);
    case 'truncate': {
      const end = codePointsEnd(text, filter.count);
      return ok(end < text.length ? text.slice(0, end) + filter.suffix : text);
    }
    case 'join':
      return join(value, filter.separator, evaluation);
    case 'split':
      return split(text, filter.separator);
    case 'round':
      return ok(typeof value === 'number' ? round(value, filter.decimals) : 0);
    case 'replace':
      return replace(value, filter.search, filter.replacement, evaluation);
  }
}

function urlEncode(text: string): Filtered {
  const bytes = encodeUtf8(text);
  if (percentEncodedLength(bytes) > TEXT_BYTES_MAX) return TOO_LARGE;
  return ok(decodeUtf8(percentEncode(bytes)));
}

function base64(text: string): Filtered {
  if ((utf8Bytes(text) / 3) * 4 > TEXT_BYTES_MAX) return TOO_LARGE;
  return ok(decodeUtf8(encodeBase64(encodeUtf8(text))));
}

function base64Decode(text: string): Filtered {
  const bytes = decodeBase64(text);
  return bytes === undefined ? err('got text that is not base64') : ok(decodeUtf8(bytes));
}

function join(value: Json, separator: string, { meter }: Evaluation): Filtered {
  if (!isJsonArray(value)) return ok('');
  let room = TEXT_BYTES_MAX - utf8Bytes(separator) * Math.max(0, value.length - 1);
  for (const element of value) {
    const size = textSize(element, room);
    if (size === undefined) return TOO_LARGE;
    room -= size;
  }
  spend(meter, TEXT_BYTES_MAX - room);
  return ok(value.map(textOf).join(separator));
}

/** The parts between separators; the empty separator gives the code points. */
function split(text: string, separator: string): Filtered {
  // Each part costs at least its quotes and a comma in canonical JSON.
  const partsMax = Math.floor(TEXT_BYTES_MAX / 3);
  if (separator === '') return text.length > partsMax * 2 ? TOO_LARGE : ok(Array.from(text));
  return countText(text, separator) >= partsMax ? TOO_LARGE : ok(splitText(text, separator));
}

/** The nearest integer of value × 10^decimals, halves away from zero, divided by 10^decimals. */
function round(value: number, decimals: number): number {
  const factor = 10 ** decimals;
  const scaled = Math.round(Math.abs(value) * factor);
  // A number this large has no decimals to lose.
  if (!Number.isFinite(scaled)) return value;
  return (Math.sign(value) * scaled) / factor + 0;
}

function replace(value: Json, search: string, replacement: Replacement, evaluation: Evaluation): Filtered {
  const size = textSize(value, TEXT_BYTES_MAX);
  if (size === undefined) return TOO_LARGE;
  // The result may be small, so that its size alone would not pay for the work.
  spend(evaluation.meter, size);
  const by = replacementText(replacement, evaluation);
  if (!by.ok) return by;
  const text = textOf(value);
  const count = countText(text, search);
  if (size + count * (utf8Bytes(by.value) - utf8Bytes(search)) > TEXT_BYTES_MAX) return TOO_LARGE;
  spend(evaluation.meter, count * ELEMENT_WORK);
  return ok(splitText(text, search).join(by.value));
}

/** The second argument of `replace` as text; null and missing are the empty text ([FIL-1]). */
function replacementText({ target, text }: Replacement, evaluation: Evaluation): Result<string, string> {
  const found = target && readTarget(target, evaluation);
  switch (found?.kind) {
    case 'fault':
      return err(`has an argument with an ${found.fault.message}`);
    case 'value': {
      const value = found.value ?? '';
      return textSize(value, TEXT_BYTES_MAX) === undefined ? TOO_LARGE : ok(textOf(value));
    }
    case 'no_root':
    case undefined:
      return ok(text);
  }
}
