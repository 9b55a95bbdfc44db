/** Sets the `Link` header (RFC 8288) to the page after `rows`, when the page is full. Links are relative, so they hold behind any proxy. */
export function nextPage(page: {
  rows: readonly { id: string }[];
  query: { limit: number };
  url: string;
  header: (name: string, value: string) => void;
}): void {
  const last = page.rows.at(-1);
  if (last === undefined || page.rows.length < page.query.limit) return;
  const [path = '', search = ''] = page.url.split('?', 2);
  // What was filtered by stays.
  const query = new URLSearchParams(search);
  for (const name of ['limit', 'cursor']) query.delete(name);
  query.set('limit', String(page.query.limit));
  query.set('cursor', last.id);
  page.header('link', `<${path}?${query}>; rel="next"`);
}
