import { closedByMarks, closedWhereUnknown, type Format, hexMark, mark } from '#scanner/formats/format.ts';

// Document formats that this scanner recognises but cannot open.

/** Formats that are recognised by their first bytes. */
export const closedDocuments: readonly Format[] = [
  closedByMarks('script-encoder', 'Windows Script Encoder', [mark('#@~^')]),
  closedByMarks('windows-help', 'Windows Help', [hexMark('3f5f0300')]),
];

/** Formats that are recognised only if the file matches no other format. */
export const unknownDocuments: readonly Format[] = [closedWhereUnknown('hangul-3', 'Hangul 3', [mark('HWP Document File V')])];
