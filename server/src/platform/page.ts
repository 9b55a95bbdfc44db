import type { PageQuery } from '@palisade/contract/fields';

/**
 * Sets the `Link` header (RFC 8288) to the page after `rows`, when the page is full. What else the query asks for is asked for there too. Links are relative,
 * so they hold behind any proxy.
 */
export function nextPage(page: {
  rows: readonly { id: string }[];
  query: PageQuery & Record<string, string | number | undefined>;
  url: string;
  header: (name: string, value: string) => void;
}): void {
  const last = page.rows.at(-1);
  const { limit, cursor: _cursor, ...others } = page.query;
  if (last === undefined || page.rows.length < limit) return;
  const path = page.url.split('?', 1)[0] ?? '';
  const asked = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : [`&${name}=${encodeURIComponent(value)}`],
  );
  page.header('link', `<${path}?limit=${limit}&cursor=${last.id}${asked.join('')}>; rel="next"`);
}
