import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, type Inline, parseMarkdown, plainText } from './markdown.ts';

const text = (words: string): Inline => ({ kind: 'text', text: words });
const paragraph = (...children: Inline[]): Block => ({ kind: 'paragraph', children });

describe('the Markdown of help pages', () => {
  test.each<[string, Block[]]>([
    ['a\nb\n\nc', [paragraph(text('a b')), paragraph(text('c'))]],
    [
      '## Two\n#### Four',
      [
        { kind: 'heading', level: 2, children: [text('Two')] },
        { kind: 'heading', level: 3, children: [text('Four')] },
      ],
    ],
    [
      '- a\n- b\n\n1. c',
      [
        { kind: 'list', ordered: false, items: [[text('a')], [text('b')]] },
        { kind: 'list', ordered: true, items: [[text('c')]] },
      ],
    ],
    [
      '**a *b* c**',
      [paragraph({ kind: 'strong', children: [text('a '), { kind: 'emphasis', children: [text('b')] }, text(' c')] })],
    ],
    ['`**`', [paragraph({ kind: 'code', text: '**' })]],
    ['> said', [{ kind: 'quote', children: [text('said')] }]],
    ['```\n<b>\n```', [{ kind: 'code', text: '<b>' }]],
    ['[chat](/chat)', [paragraph({ kind: 'link', href: '/chat', children: [text('chat')] })]],
    [
      '[site](https://example.com/a?b=c)',
      [paragraph({ kind: 'link', href: 'https://example.com/a?b=c', children: [text('site')] })],
    ],
    ['2 * 3 * 4', [paragraph(text('2 * 3 * 4'))]],
    ['\\*no\\*', [paragraph(text('*no*'))]],
  ])('%j', (source, blocks) => {
    expect(parseMarkdown(source)).toEqual(blocks);
  });

  // proves: support-bad-input-12
  test.each([
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    '//elsewhere.example',
    '/\\elsewhere.example',
    ' java\tscript:alert(1)',
    'https:evil',
    'https://a"onclick="x',
    'vbscript:x',
  ])('leads nobody to %j', (href) => {
    expect(JSON.stringify(parseMarkdown(`[here](${href})`))).not.toContain('"link"');
  });

  // proves: support-bad-input-12
  test('HTML in it is text', () => {
    const source = '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>';
    expect(plainText(source)).toBe('<script>alert(1)</script>\n<img src=x onerror=alert(1)>');
    expect(parseMarkdown(source).map(({ kind }) => kind)).toEqual(['paragraph', 'paragraph']);
  });

  test('every text is read to its end, in time linear in its length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500, unit: fc.constantFrom(...'*_`[]()#-> \n1.a\\') }), (source) => {
        expect(Array.isArray(parseMarkdown(source))).toBe(true);
      }),
    );
    const nasty = ['*a ', '**a ', '[a](', '`a ', '[[', '*['].map((part) => part.repeat(Math.floor(20_000 / part.length)));
    for (const source of nasty) expect(parseMarkdown(source).length).toBe(1);
  });
});
