import * as z from 'zod';
import type { ChangeCursor } from '../../ports/store/changes.ts';
import { AuditBody } from './output.ts';
import { FilterParameter, rangeParameter, timestamp, TimestampInput, Uuid } from './wire-values.ts';

const Cursor = z.object({ created_at: TimestampInput, id: Uuid });

/** The place of an entry as base64url without padding of `{"created_at", "id"}`; clients may build it (http-api.md 22). */
export function cursorText({ createdAt, id }: ChangeCursor): string {
  const json = JSON.stringify({ created_at: timestamp(createdAt), id });
  return btoa(json).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** null: the text is no cursor. */
export function readCursor(text: string): ChangeCursor | null {
  try {
    const parsed = Cursor.safeParse(JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/'))));
    return parsed.success ? { createdAt: parsed.data.created_at, id: parsed.data.id } : null;
  } catch {
    return null;
  }
}

const LIMIT_STANDARD = 100;
const LIMIT_MAX = 500;

export const ChangesQuery = z.object({
  tenant_id: FilterParameter,
  cursor: FilterParameter,
  limit: rangeParameter(LIMIT_STANDARD, 1, LIMIT_MAX),
});
export const ChangeStreamQuery = z.object({ tenant_id: FilterParameter, cursor: FilterParameter });

export const ChangesBody = z.object({
  changes: z.array(AuditBody),
  /** Place of the last entry; absent when there is none. */
  next_cursor: z.string().exactOptional(),
  has_more: z.boolean(),
});
