import type { WireRecord } from './records.ts';
import { readName, TYPE } from './wire.ts';

const IPV4_HINT = 4;
const IPV6_HINT = 6;

function isPrivate4(at: number, bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes.subarray(at, at + 2);
  return (
    first === 0 ||
    first === 10 ||
    first === 127 ||
    (first === 100 && second >= 64 && second < 128) ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168)
  );
}

function isPrivate6(at: number, bytes: Buffer): boolean {
  const first = bytes.readUInt16BE(at);
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80) return true;
  const isZero = (from: number, to: number) => bytes.subarray(at + from, at + to).every((byte) => byte === 0);
  if (isZero(0, 10) && bytes.readUInt16BE(at + 10) === 0xffff) return isPrivate4(at + 12, bytes);
  return isZero(0, 15) && (bytes[at + 15] ?? 0) <= 1;
}

/** Whether address hints of an HTTPS record (RFC 9460) contain a private address. */
function hasPrivateHint(bytes: Buffer, { data, end }: WireRecord): boolean {
  let at = readName(bytes, data + 2)?.end ?? end;
  while (at + 4 <= end) {
    const key = bytes.readUInt16BE(at);
    const next = at + 4 + bytes.readUInt16BE(at + 2);
    if (next > end) return false;
    const step = key === IPV4_HINT ? 4 : 16;
    const isPrivate = key === IPV4_HINT ? isPrivate4 : isPrivate6;
    if (key === IPV4_HINT || key === IPV6_HINT)
      for (let hint = at + 4; hint + step <= next; hint += step) if (isPrivate(hint, bytes)) return true;
    at = next;
  }
  return false;
}

/** Whether an answer contains a private address. A web page could use it to access devices in the local network (DNS rebinding). */
export function leadsHome(bytes: Buffer, records: readonly WireRecord[]): boolean {
  return records.some((record) => {
    if (record.section !== 'answer') return false;
    const length = record.end - record.data;
    if (record.type === TYPE.A) return length === 4 && isPrivate4(record.data, bytes);
    if (record.type === TYPE.AAAA) return length === 16 && isPrivate6(record.data, bytes);
    return record.type === TYPE.HTTPS && hasPrivateHint(bytes, record);
  });
}
