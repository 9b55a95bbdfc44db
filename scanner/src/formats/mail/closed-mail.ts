import { closedByMarks, type Format, hexMark, mark } from '#scanner/formats/format.ts';

// Mail stores that this scanner recognises but cannot open.

/** Formats that are recognised by their first bytes. */
export const closedMail: readonly Format[] = [
  closedByMarks('outlook', 'folders of Outlook', [mark('!BDN')]),
  closedByMarks('outlook-express', 'folders of Outlook Express', [hexMark('cfad12fe')]),
  closedByMarks('lotus-notes', 'Lotus Notes', [hexMark('1a0000040000')]),
];
