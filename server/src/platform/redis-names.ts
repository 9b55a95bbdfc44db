/** The prefix of an installation's names in the Redis of `url`. The number of a database (`redis://host/2`) separates keys but not channels, so it is part of the prefix. */
export function redisNames(url: string): string {
  const number = URL.parse(url)?.pathname.slice(1) ?? '';
  return /^[1-9]\d*$/.test(number) ? `palisade:${number}:` : 'palisade:';
}
