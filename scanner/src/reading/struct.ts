// Reads binary headers that are declared by field name and width, as in specifications of formats.

/** An unsigned integer of this width (`u64` as a number, exact up to 2^53; `big64` as a bigint), or a number of raw bytes. */
type Width = 'u8' | 'u16' | 'u24' | 'u32' | 'u64' | 'big64' | number;
type Fields = Readonly<Record<string, Width>>;
type Value<W extends Width> = W extends 'big64' ? bigint : W extends number ? Buffer : number;
type Values<F extends Fields> = { readonly [name in keyof F]: Value<F[name]> };

const BYTES = { u8: 1, u16: 2, u24: 3, u32: 4, u64: 8, big64: 8 } as const;

export interface Struct<F extends Fields> {
  /** Size of the whole header. */
  bytes: number;
  /** The fields of the header that begins at `at`; undefined if the bytes end within it. */
  read(bytes: Buffer, at?: number): Values<F> | undefined;
}

type ReadField = (bytes: Buffer, at: number) => number | bigint | Buffer;

function fieldReader(width: Width, is_little: boolean): ReadField {
  if (typeof width === 'number') return (bytes, at) => bytes.subarray(at, at + width);
  switch (width) {
    case 'u8':
      return (bytes, at) => bytes[at] ?? 0;
    case 'u16':
      return is_little ? (bytes, at) => bytes.readUInt16LE(at) : (bytes, at) => bytes.readUInt16BE(at);
    case 'u24':
      return is_little ? (bytes, at) => bytes.readUIntLE(at, 3) : (bytes, at) => bytes.readUIntBE(at, 3);
    case 'u32':
      return is_little ? (bytes, at) => bytes.readUInt32LE(at) : (bytes, at) => bytes.readUInt32BE(at);
    case 'u64':
      return is_little ? (bytes, at) => Number(bytes.readBigUInt64LE(at)) : (bytes, at) => Number(bytes.readBigUInt64BE(at));
    case 'big64':
      return is_little ? (bytes, at) => bytes.readBigUInt64LE(at) : (bytes, at) => bytes.readBigUInt64BE(at);
  }
}

/** Declares a header: its fields in their order, without gaps. */
export function struct<const F extends Fields>(order: 'little' | 'big', fields: F): Struct<F>;
export function struct(order: 'little' | 'big', fields: Fields): Struct<Fields> {
  let bytes = 0;
  const readers = Object.entries(fields).map(([name, width]) => {
    const at = bytes;
    bytes += typeof width === 'number' ? width : BYTES[width];
    return { name, at, read: fieldReader(width, order === 'little') };
  });
  return {
    bytes,
    read(buffer, start = 0) {
      if (start < 0 || start + bytes > buffer.length) return undefined;
      const values: Record<string, number | bigint | Buffer> = {};
      for (const { name, at, read } of readers) values[name] = read(buffer, start + at);
      return values;
    },
  };
}
