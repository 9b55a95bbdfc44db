import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { containerOf, membersOf } from '#scanner/formats/recognition.ts';
import { disposeContent, openSource } from '#scanner/reading/content.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import type { MemberBody } from '#scanner/reading/member.ts';

const MIB = 1024 ** 2;
/** A letter with its attachments, or the pages of a document. Bytes and ms. */
const LIMITS = { ...SCAN_LIMITS, members: 2_000, unpacked_bytes: 64 * MIB, time_ms: 8_000 };
/** Larger members are cut to this size. */
const MEMBER_BYTES_MAXIMUM = 4 * MIB;

/** A member of a document. `is_cut`: it is longer than these bytes, or stands for members that were not read. */
interface DocumentMember {
  name: string;
  bytes: Buffer;
  is_cut: boolean;
}

const REST: DocumentMember = { name: '', bytes: Buffer.alloc(0), is_cut: true };

async function beginningOf(body: MemberBody, budget: Budget): Promise<Omit<DocumentMember, 'name'>> {
  if ('content' in body) {
    const source = openSource(body.content);
    const is_cut = body.content.size > MEMBER_BYTES_MAXIMUM || body.damage !== undefined;
    try {
      return { bytes: Buffer.from(source.read(0, Math.min(body.content.size, MEMBER_BYTES_MAXIMUM))), is_cut };
    } finally {
      source.close();
      await disposeContent(body.content);
    }
  }
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body.stream) {
    if (!(piece instanceof Uint8Array)) continue;
    size += piece.length;
    budget.addUnpacked(piece.length, size, body.packed_bytes);
    if (size <= MEMBER_BYTES_MAXIMUM) pieces.push(Buffer.from(piece));
  }
  return { bytes: Buffer.concat(pieces), is_cut: size > MEMBER_BYTES_MAXIMUM };
}

/**
 * The members of a document in memory: each with its name and the beginning of its bytes. Reading stops at damage, or after 8 s, 64 MiB or 2,000 members; a member without a
 * name then stands for the rest.
 */
export async function* documentMembers(bytes: Buffer): AsyncGenerator<DocumentMember> {
  const budget = new Budget(LIMITS, bytes.length);
  const container = containerOf(bytes.subarray(0, HEAD_BYTES), budget);
  if (container === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), 'palisade-document-'));
  let files = 0;
  try {
    const context = {
      budget,
      path() {
        files += 1;
        return join(folder, String(files));
      },
      claim: () => {},
      note: () => {},
    };
    for await (const member of membersOf(container, { size: bytes.length, bytes }, 'document', context)) {
      budget.addMember();
      if (member.closed === undefined) yield { name: member.name, ...(await beginningOf(await member.read(), budget)) };
      else yield REST;
    }
  } catch (error) {
    // Earlier members are valid; a limit or damage ends the rest.
    if (!(error instanceof Error)) throw error;
    yield REST;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
