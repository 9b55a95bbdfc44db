import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader } from '#scanner/reading/reader.ts';

// Raw disc images (ECMA-130, 14 and 15; the `.bin` of a `.cue`): each sector has 2,048 bytes of user data with a sync pattern, an address and error-correction
// codes.

const SECTOR_BYTES = 2352;
const USER_BYTES = 2048;
const MARK = Buffer.from('00ffffffffffffffffffff00', 'hex');
const MODE_AT = 15;
/** Position of the user data in a sector, by its mode. In mode 2, an 8-byte subheader precedes it. */
const USER_AT: Readonly<Record<number, number>> = { 1: 16, 2: 24 };
const SECTORS_AT_ONCE = 256;

function isRawDisc(head: Buffer): boolean {
  const isSector = (at: number) =>
    head.subarray(at, at + MARK.length).equals(MARK) && USER_AT[head[at + MODE_AT] ?? 0] !== undefined;
  return head.length > SECTOR_BYTES * 2 && isSector(0) && isSector(SECTOR_BYTES);
}

/** The image without its raw sector data: the user data of all sectors. */
async function* rawDiscMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const sectors = Math.floor(reader.size / SECTOR_BYTES);
  async function* disc(): AsyncGenerator<Buffer> {
    for (let first = 0; first < sectors; first += SECTORS_AT_ONCE) {
      const piece = reader.at(first * SECTOR_BYTES, SECTORS_AT_ONCE * SECTOR_BYTES);
      const bytes: Buffer[] = [];
      for (let at = 0; at + SECTOR_BYTES <= piece.length; at += SECTOR_BYTES) {
        const start = at + (USER_AT[piece[at + MODE_AT] ?? 0] ?? 0);
        bytes.push(piece.subarray(start, start + USER_BYTES));
      }
      yield Buffer.concat(bytes);
    }
  }
  claim(0, sectors * SECTOR_BYTES);
  yield { name: 'disc.iso', read: () => ({ stream: disc(), packed_bytes: reader.size }) };
}

export const rawDisc = format({
  id: 'raw-disc',
  recognise: withBits(192, isRawDisc),
  limits: 'Sectors are not mended by their codes.',
  open: rawDiscMembers,
});
