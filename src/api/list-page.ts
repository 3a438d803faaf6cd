export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** One page of a list in the envelope of http-api.md 1.7. One row more is read to know whether there are more. */
export async function listPage<Row, Shown>(
  page: Page,
  show: (row: Row) => Shown,
  read: (page: Page) => Promise<readonly Row[]>,
): Promise<{ readonly items: readonly Shown[]; readonly has_more: boolean }> {
  const rows = await read({ limit: page.limit + 1, offset: page.offset });
  return { items: rows.slice(0, page.limit).map(show), has_more: rows.length > page.limit };
}
