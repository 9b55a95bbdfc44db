/** Names in a sentence: "Laptop, Tower and 2 more". */
export function listNames(names: readonly string[], most = 3): string {
  if (names.length > most + 1) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
