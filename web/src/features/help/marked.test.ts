import { describe, expect, it } from 'vitest';
import { type MarkKind, marked } from './marked.ts';

describe('the toolbar of the help editor', () => {
  it.each<[MarkKind, string, string]>([
    ['bold', 'Press «Scan files» now', 'Press **«Scan files»** now'],
    ['bold', 'Press «»', 'Press **«bold»**'],
    ['link', 'See «Antivirus».', 'See [«Antivirus»](/help).'],
    ['heading', 'First\nSec«on»d\nThird', 'First\n«## Second»\nThird'],
    ['list', 'O«ne\nTw»o', '«- One\n- Two»'],
    ['steps', '«- One\n- Two»', '«1. One\n2. Two»'],
    ['warning', '«»', '«> »'],
  ])('%s makes of %j the text %j', (kind, before, after) => {
    const start = before.indexOf('«');
    const text = before.replace('«', '').replace('»', '');
    const next = marked({ text, start, end: before.indexOf('»') - 1 }, kind);
    expect(`${next.text.slice(0, next.start)}«${next.text.slice(next.start, next.end)}»${next.text.slice(next.end)}`).toBe(after);
  });
});
