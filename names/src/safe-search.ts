import type { Policy } from './decide.ts';

/** Host names of search engines, and the hosts that their operators document for safe search. */
const SAFE_NAMES: Record<string, string> = {
  'www.bing.com': 'strict.bing.com',
  'duckduckgo.com': 'safe.duckduckgo.com',
  'www.duckduckgo.com': 'safe.duckduckgo.com',
  'start.duckduckgo.com': 'safe.duckduckgo.com',
  'search.brave.com': 'forcesafe.search.brave.com',
  'www.ecosia.org': 'strict-safe-search.ecosia.org',
  'pixabay.com': 'safesearch.pixabay.com',
};
const GOOGLE = /^www\.google\.(?:com|cat|[a-z]{2}|(?:com?)\.[a-z]{2})$/u;
const YOUTUBE = new Set([
  'www.youtube.com',
  'm.youtube.com',
  'youtubei.googleapis.com',
  'youtube.googleapis.com',
  'www.youtube-nocookie.com',
]);

/** The safe host that replaces a name; undefined if the name is not a search engine or safe search is off. */
export function safeNameOf(name: string, level: Policy['safe_search']): string | undefined {
  if (level === 'off') return undefined;
  if (GOOGLE.test(name)) return 'forcesafesearch.google.com';
  if (YOUTUBE.has(name)) return level === 'strict' ? 'restrict.youtube.com' : 'restrictmoderate.youtube.com';
  return Object.hasOwn(SAFE_NAMES, name) ? SAFE_NAMES[name] : undefined;
}
