/** A text without percent-encoding; as it is where the encoding is broken. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
