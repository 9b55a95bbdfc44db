import { closedByMarks, type Format, hexMark, mark } from '#scanner/formats/format.ts';

// Folders of mail that nothing here opens.

/** Their first bytes tell them. */
export const closedMail: readonly Format[] = [
  closedByMarks('outlook', 'folders of Outlook', [mark('!BDN')]),
  closedByMarks('outlook-express', 'folders of Outlook Express', [hexMark('cfad12fe')]),
  closedByMarks('lotus-notes', 'Lotus Notes', [hexMark('1a0000040000')]),
];
