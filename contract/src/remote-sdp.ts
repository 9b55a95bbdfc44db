import type { Side } from './remote-record.ts';

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
const DIRECTION = /^a=(sendrecv|sendonly|recvonly|inactive)[ \t]*$/u;

/** The kinds and directions of the media in a description (RFC 8866; one that says no direction is `sendrecv`). */
export function mediaOf(sdp: string): { kind: string; direction: Direction }[] {
  const media: { kind: string; direction: Direction }[] = [];
  let usual: Direction = 'sendrecv';
  for (const line of sdp.split(/\r\n|\r|\n/u)) {
    const last = media.at(-1);
    const said = DIRECTION.exec(line)?.[1];
    const direction = said === 'sendonly' || said === 'recvonly' || said === 'inactive' ? said : 'sendrecv';
    if (line.startsWith('m=')) media.push({ kind: line.slice(2).split(' ', 1)[0] ?? '', direction: usual });
    else if (said === undefined) continue;
    else if (last === undefined) usual = direction;
    else last.direction = direction;
  }
  return media;
}

/** What each side may do with each kind of media: a picture goes from the customer to the technician and nowhere else; a voice goes both ways. */
const ALLOWED: Record<Side, Record<string, readonly Direction[]>> = {
  customer: {
    video: ['sendonly', 'inactive'],
    audio: ['sendrecv', 'sendonly', 'recvonly', 'inactive'],
    application: ['sendrecv'],
  },
  technician: {
    video: ['recvonly', 'inactive'],
    audio: ['sendrecv', 'sendonly', 'recvonly', 'inactive'],
    application: ['sendrecv'],
  },
};

/** Whether a side may describe its connection like this. */
export function isAllowedSdp(side: Side, sdp: string): boolean {
  const media = mediaOf(sdp);
  return media.length > 0 && media.every(({ kind, direction }) => ALLOWED[side][kind]?.includes(direction) ?? false);
}

/** Whether a description is of voices alone: they have a connection of their own, so that a picture goes on whatever becomes of them. */
export function isOfVoices(sdp: string): boolean {
  const media = mediaOf(sdp);
  return media.length > 0 && media.every(({ kind }) => kind === 'audio');
}
