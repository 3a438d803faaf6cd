import type { Page } from '../../ports/store/page.ts';

/** The rows of a page; all of them without one. */
export function pageOf<Row>(rows: readonly Row[], page?: Page): readonly Row[] {
  return page === undefined ? rows : rows.slice(page.offset, page.offset + page.limit);
}
