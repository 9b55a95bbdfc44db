import { sevenZipMembers as membersOf, NotAnArchive as TrueNotAnArchive } from '#scanner/formats/archives/seven-zip.ts';
import type { Member, MemberBody } from '#scanner/walk/member.ts';

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
  let members = 0;
  for await (const member of membersOf(...parameters)) {
    members += 1;
    if (lying.lie === 'one less' && members === 1) {
      lying.told += 1;
      continue;
    }
    const is_true = lying.lie === 'nothing' || lying.lie === 'one less';
    yield is_true ? member : { ...member, read: async () => changed(await member.read()) };
  }
}
