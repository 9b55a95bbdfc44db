// CRC-64 of XZ (ECMA-182, reflected), as two 32-bit halves.

const POLYNOMIAL = { high: 0xc96c5795, low: 0xd7870f42 } as const;

const LOW = new Uint32Array(256);
const HIGH = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let low = byte;
  let high = 0;
  for (let bit = 0; bit < 8; bit += 1) {
    const is_odd = (low & 1) !== 0;
    low = ((low >>> 1) | (high << 31)) >>> 0;
    high >>>= 1;
    if (!is_odd) continue;
    low = (low ^ POLYNOMIAL.low) >>> 0;
    high = (high ^ POLYNOMIAL.high) >>> 0;
  }
  LOW[byte] = low;
  HIGH[byte] = high;
}

/** Computes a CRC-64 over pieces. The value has eight bytes, little-endian. */
export function crc64(): { add: (piece: Uint8Array) => void; value: () => Buffer } {
  let low = ~0;
  let high = ~0;
  return {
    add(piece) {
      for (let index = 0; index < piece.length; index += 1) {
        const place = (low ^ (piece[index] ?? 0)) & 0xff;
        low = ((low >>> 8) | (high << 24)) ^ (LOW[place] ?? 0);
        high = (high >>> 8) ^ (HIGH[place] ?? 0);
      }
    },
    value() {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32LE(~low >>> 0, 0);
      bytes.writeUInt32LE(~high >>> 0, 4);
      return bytes;
    },
  };
}
