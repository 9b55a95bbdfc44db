import type { PageQuery } from '@palisade/contract/fields';

/** Sets the `Link` header (RFC 8288) to the page after `rows`, when the page is full. Links are relative, so they hold behind any proxy. */
export function nextPage(page: {
  rows: readonly { id: string }[];
  query: PageQuery;
  url: string;
  header: (name: string, value: string) => void;
}): void {
  const last = page.rows.at(-1);
  if (last === undefined || page.rows.length < page.query.limit) return;
  const path = page.url.split('?', 1)[0] ?? '';
  page.header('link', `<${path}?limit=${page.query.limit}&cursor=${last.id}>; rel="next"`);
}
