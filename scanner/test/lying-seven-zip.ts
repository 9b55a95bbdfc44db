import { sevenZipMembers as membersOf, NotAnArchive as TrueNotAnArchive } from '#scanner/formats/seven-zip/seven-zip.ts';
import type { Member, MemberBody } from '#scanner/reading/member.ts';

// 7-Zip as it would be if a fault in its memory had changed what it gives. lying-seven-zip-process.ts puts it in the place of the real one.

export const NotAnArchive = TrueNotAnArchive;

export type Lie = 'nothing' | 'other bytes' | 'shorter' | 'one less';

/** The lie to tell, and how often it was told. */
export const lying: { lie: Lie; told: number } = { lie: 'nothing', told: 0 };

function changed(body: MemberBody): MemberBody {
  if (!('content' in body) || !('bytes' in body.content) || body.content.size === 0) return body;
  const bytes = Buffer.from(body.content.bytes.subarray(0, body.content.size));
  lying.told += 1;
  if (lying.lie === 'shorter') return { content: { size: bytes.length - 1, bytes: bytes.subarray(0, -1) } };
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return { content: { size: bytes.length, bytes } };
}

export async function* sevenZipMembers(...parameters: Parameters<typeof membersOf>): AsyncGenerator<Member> {
  let before: Member | undefined;
  for await (const member of membersOf(...parameters)) {
    if (lying.lie === 'one less') {
      if (before !== undefined) yield before;
      before = member;
      continue;
    }
    yield lying.lie === 'nothing' ? member : { ...member, read: async () => changed(await member.read()) };
  }
  // The last one is left out.
  if (before !== undefined) lying.told += 1;
}
