import { closedByMarks, closedWhereUnknown, type Format, hexMark, mark } from '#scanner/formats/format.ts';

// Documents that nothing here opens.

/** Their first bytes tell them. */
export const closedDocuments: readonly Format[] = [
  closedByMarks('script-encoder', 'Windows Script Encoder', [mark('#@~^')]),
  closedByMarks('windows-help', 'Windows Help', [hexMark('3f5f0300')]),
];

/** They count only if no other format is found in the file. */
export const unknownDocuments: readonly Format[] = [closedWhereUnknown('hangul-3', 'Hangul 3', [mark('HWP Document File V')])];
