/** Reads a varint of Protocol Buffers, seven bits per byte; undefined if it does not end within ten bytes or exceeds `Number.MAX_SAFE_INTEGER`. */
export function varint(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count += 1) {
    const byte = bytes[at + count];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? { value, next: at + count + 1 } : undefined;
    scale *= 128;
  }
  return undefined;
}
