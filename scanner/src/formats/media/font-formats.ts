import { type Format, format, hexMark, mark } from '#scanner/formats/format.ts';
import { sizedAt } from '#scanner/formats/leaf-walk.ts';
import { fontEnd, isFont, walkFonts } from './leaf-fonts.ts';
import { fontMembers } from './leaf-members.ts';

// Fonts: where they end, and the metadata that they contain.

export const fonts: readonly Format[] = [
  format({
    id: 'font',
    leaf: {
      marks: [hexMark('00010000'), mark('OTTO'), mark('true')],
      walk: (reader, head) => (isFont(head) ? fontEnd(reader, 0) : undefined),
    },
    limits: null,
  }),
  format({ id: 'font-collection', leaf: { marks: [mark('ttcf')], walk: walkFonts }, limits: null }),
  format({ id: 'woff', leaf: { marks: [mark('wOFF')], walk: sizedAt(8, false), members: fontMembers }, limits: null }),
  format({ id: 'woff2', leaf: { marks: [mark('wOF2')], walk: sizedAt(8, false) }, limits: null }),
];
