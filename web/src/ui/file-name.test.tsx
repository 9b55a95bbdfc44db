import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { FileName } from './file-name.tsx';
import { renderForTest } from './render-for-test.tsx';
import { disguiseWordsOf, shownNameOf } from './shown-name.ts';

describe('the name of a file', () => {
  it.each([
    ['invoice.pdf.exe', 'pdf', 'exe'],
    ['holiday.JPG.SCR', 'jpg', 'scr'],
    ['report.docx          .js', 'docx', 'js'],
    ['song.mp3___.lnk ', 'mp3', 'lnk'],
    ['photo.jpg.exe...', 'jpg', 'exe'],
  ])('%s is a program that looks like a document', (name, looks, is) => {
    expect(shownNameOf(name).disguise).toEqual({ looks, is });
    expect(disguiseWordsOf(name)).toBe(`Looks like a .${looks} file but is a program (.${is}).`);
  });

  it.each(['invoice.pdf', 'setup.exe', 'backup.tar.gz', 'jquery.min.js', 'notes.v2.txt', 'exe.pdf', 'letter.exe.pdf', ''])(
    '%s is what it looks like',
    (name) => expect(shownNameOf(name).disguise).toBeUndefined(),
  );

  it('is whole up to 24 characters', () => {
    expect(shownNameOf(`${'a'.repeat(20)}.pdf`)).toMatchObject({ head: undefined, tail: `${'a'.repeat(20)}.pdf` });
  });

  // proves: product-2.7-1
  it('keeps its end beside a beginning that may be cut', () => {
    const { head, tail, whole } = shownNameOf(`${'statement of the year '.repeat(8)}2026.pdf.exe`);
    expect(`${head}${tail}`).toBe(whole);
    expect(tail).toMatch(/2026\.pdf\.exe$/u);
  });

  it('shows a real ending that blanks push away', () => {
    const { tail } = shownNameOf(`invoice.pdf${' '.repeat(150)}.exe`);
    expect(tail).toMatch(/^ +\.exe$/u);
    expect(tail).toHaveLength(24);
  });

  it('is never cut inside of a letter', () => {
    const family = '\u{1F468}\u0301\u0302';
    const { head, tail } = shownNameOf(family.repeat(60));
    expect(head).toBe(family.repeat(46));
    expect(tail).toBe(family.repeat(14));
  });

  it('marks the ending, and is one text for who hears it', () => {
    const name = `${'a long beginning '.repeat(6)}.pdf.exe`;
    renderForTest(<FileName name={name} />);
    expect(screen.getByText(name)).toBeInTheDocument();
    expect(screen.getByText('.exe').localName).toBe('mark');
  });
});
