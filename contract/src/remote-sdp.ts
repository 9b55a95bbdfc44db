import type { Side } from './remote-record.ts';

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
// Parsed as leniently as the most lenient browser: Chromium accepts text after a direction, Firefox accepts spaces and capitals.
const MEDIA = /^\s*m\s*=\s*(\S*)/iu;
const DIRECTION = /^\s*a\s*=\s*(sendrecv|sendonly|recvonly|inactive)(?![\w-])/iu;

/**
 * The kinds and directions of the media in a session description (RFC 8866). A medium without a direction of its own, or with two, counts as `sendrecv`, because browsers
 * treat a direction for the whole description differently.
 */
export function mediaOf(sdp: string): { kind: string; direction: Direction }[] {
  const media: { kind: string; said: Direction | undefined }[] = [];
  for (const line of sdp.split(/\r?\n/u)) {
    const kind = MEDIA.exec(line)?.[1];
    if (kind !== undefined) media.push({ kind: kind.toLowerCase(), said: undefined });
    const said = DIRECTION.exec(line)?.[1]?.toLowerCase();
    const last = media.at(-1);
    if (said === undefined || last === undefined) continue;
    const direction = said === 'sendonly' || said === 'recvonly' || said === 'inactive' ? said : 'sendrecv';
    last.said = last.said === undefined || last.said === direction ? direction : 'sendrecv';
  }
  return media.map(({ kind, said = 'sendrecv' }) => ({ kind, direction: said }));
}

/** Allowed directions of each side for each kind of media: video only from the customer to the technician, audio both ways. */
const VOICE: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];
const MARKS: readonly Direction[] = ['sendrecv'];
const ALLOWED: Record<Side, ReadonlyMap<string, readonly Direction[]>> = {
  customer: new Map([
    ['video', ['sendonly', 'inactive']],
    ['audio', VOICE],
    ['application', MARKS],
  ]),
  technician: new Map([
    ['video', ['recvonly', 'inactive']],
    ['audio', VOICE],
    ['application', MARKS],
  ]),
};

/** Whether a side may send this session description. */
export function isAllowedSdp(side: Side, sdp: string): boolean {
  const media = mediaOf(sdp);
  return media.length > 0 && media.every(({ kind, direction }) => ALLOWED[side].get(kind)?.includes(direction) ?? false);
}

/** Whether a description has only audio. Voices have a separate connection, so that they never affect the picture. */
export function isOfVoices(sdp: string): boolean {
  const media = mediaOf(sdp);
  return media.length > 0 && media.every(({ kind }) => kind === 'audio');
}
