import { describe, expect, test } from 'vitest';
import { faultOf, paragraphsOf, passagesOf } from './prose.mjs';

describe('a sentence', () => {
  test.each([
    "128 bytes that are anybody's",
    'who says more has what is more dropped',
    "Nobody's look takes anything from somebody else's",
    'Nothing of it has happened, and it is done again',
    'a notice is handed on by nobody',
    'Who has said who they are',
    'Nothing to read was read whole',
    'Told what engines have done.',
    'How a file is read.',
    'What a device enrols with.',
    'Where nothing is set, the default counts.',
    'That which was read is kept.',
    'The list comes to three entries.',
    'A mark that is taken for a stream.',
    'The upload goes on.',
    'A rule of ours.',
  ])('is found: %s', (sentence) => {
    expect(faultOf(sentence)).toBeDefined();
  });

  test.each([
    'arbitrary 128-byte preamble',
    'excess writes per page are dropped',
    'Reading does not reset the window',
    'The transaction rolled back and is retried',
    'notices are not counted',
    'authenticated peers',
    'an empty file is clean',
    'Options for one reading.',
    'What should a person do?',
    'Whether the browser keeps a session.',
    'Null where there is none.',
    'rejects an expired code',
  ])('is plain: %s', (sentence) => {
    expect(faultOf(sentence)).toBeUndefined();
  });
});

test('reads comments of neighbouring lines as one, doc comments, and names of tests', () => {
  const source = `// A comment that
// goes over two lines.
const a = 1; // beside code

/**
 * A doc comment.
 * @param x a parameter
 */
describe('a group', () => {
  test.each([1])('case %s', () => {});
  // ${'proves'}: a-1
  it('works', () => {});
});
log('not a name');
`;
  expect(passagesOf('x.test.ts', source).map(({ line, text }) => [line, text])).toEqual([
    [1, 'A comment that goes over two lines.'],
    [3, 'beside code'],
    [5, 'A doc comment.'],
    [9, 'a group'],
    [10, 'case %s'],
    [12, 'works'],
  ]);
  expect(passagesOf('x.ts', source)).toHaveLength(3);
  expect(() => passagesOf('x.ts', "test('the page's socket');")).toThrow('x.ts does not parse');
});

test('reads paragraphs, items, headings and cells of documents, and no code', () => {
  const text =
    '# A title\n\nA paragraph\nof two lines.\n\n- an item\n- **another**\n\n| a cell | [a link](x.md) |\n\n```sh\nwhat it does is code\n```\n';
  expect(paragraphsOf('x.md', text).map((passage) => passage.text)).toEqual([
    'A title',
    'A paragraph of two lines.',
    'an item',
    'another',
    'a cell',
    'a link',
  ]);
});
