/** A number as protocol buffers write it, seven bits to the byte; undefined where it does not end in ten bytes or is beyond what JavaScript counts exactly. */
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
