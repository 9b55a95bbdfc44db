import type { ScamAnswer } from '@palisade/contract/scam-check';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { picturesOfCodes } from '#test/codes.ts';
import { bytesOf, mailOf, type Part } from '#test/mails.ts';
import { pngOf } from '#test/pictures.ts';
import { LIMITS, type Limit } from './limits.ts';
import { checkPictureSize } from './picture-header.ts';
import { ScamCheck } from './scam-check.ts';
import { UNREAD_SENTENCES } from './sentences.ts';

const BAIT = 'Your PayPal account is limited. Confirm your details at https://paypa1-secure.com/login within 24 hours.';
const LINK = 'https://paypa1-secure.com/login';
const FILLER = 'See you at eight, I have the tickets for you. ';
const filler = (letters: number) => FILLER.repeat(Math.ceil(letters / FILLER.length)).slice(0, letters);
const HONEST_LINK = 'https://example.org/a';

const check = new ScamCheck({
  scanAttachment: (name) => Promise.resolve(name === 'virus.txt' ? 'infected' : 'clean'),
  readPictureText: (picture) => {
    const code = checkPictureSize(picture, 'text');
    return Promise.resolve(
      code === undefined ? { text: '', languages: ['eng', 'deu', 'spa', 'fra', 'ita', 'por', 'nld', 'pol'] } : { code },
    );
  },
});
afterAll(() => check.close());

const text = (content: string): Part => ({ name: 'a.txt', type: 'text/plain', content });
const html = (source: string) =>
  bytesOf(`From: Ada <ada@example.org>\r\nSubject: Hello\r\nContent-Type: text/html\r\n\r\n<p>${FILLER}</p>${source}`);
const nested = (depth: number): string =>
  depth === 0 ? mailOf([], BAIT) : mailOf([{ name: 'a.eml', type: 'message/rfc822', content: nested(depth - 1) }]);
const white = (side: number) => pngOf(new Uint8Array(side * side).fill(255), side, side);
/** The header of a picture, which claims a size. */
const claimed = (width: number, height: number, type: number) => {
  const picture = Buffer.from(white(30));
  picture.writeUInt32BE(width, 16);
  picture.writeUInt32BE(height, 20);
  picture[25] = type;
  return picture;
};

interface Input {
  name?: string;
  content: Uint8Array | string;
}

/** For each limit the inputs whose bait stands so many behind it. A limit without them does not compile. */
const BEHIND: Readonly<Record<Limit, (past: number) => Promise<Input[]> | Input[]>> = {
  file_bytes: (past) => [{ name: 'a.txt', content: new Uint8Array(LIMITS.file_bytes + past).fill(65) }],
  letters: (past) => {
    const long = filler(LIMITS.letters + past - 1) + BAIT;
    return [
      { content: long },
      { content: bytesOf(long) },
      { content: bytesOf(mailOf([], long)) },
      { content: html(`<p>${long}</p>`) },
      { content: bytesOf(mailOf([text(long)])) },
      { content: `From: a@example.org\r\nSubject: Hello\r\n\r\n${long}` },
    ];
  },
  letters_together: (past) => {
    const files = Math.ceil((LIMITS.letters_together + past) / LIMITS.letters);
    return [{ content: bytesOf(mailOf([...Array.from({ length: files }, () => text(filler(LIMITS.letters))), text(BAIT)])) }];
  },
  subject_letters: (past) => [
    {
      content: bytesOf(
        `From: Ada <ada@example.org>\r\nSubject: ${filler(LIMITS.subject_letters + past - 1)}${BAIT}\r\nMIME-Version: 1.0\r\n\r\n${FILLER}`,
      ),
    },
  ],
  sender_letters: (past) => {
    const name = 'Ada '.repeat((LIMITS.sender_letters + past) / 4 + 1);
    return [
      { content: bytesOf(`From: "${name} service@paypal.com" <ada@example.org>\r\nSubject: Hello\r\n\r\n${FILLER}`) },
      {
        content: bytesOf(
          `From: <${'a.'.repeat(LIMITS.sender_letters / 2 + past)}a@paypa1-secure.com>\r\nSubject: Hello\r\n\r\n${FILLER}`,
        ),
      },
    ];
  },
  html_letters: (past) => [
    { content: html(`<!--${'x'.repeat(LIMITS.html_letters + past)}--><p>${BAIT}</p>`) },
    { name: 'a.html', content: bytesOf(`<html><p>${FILLER}</p><!--${'x'.repeat(LIMITS.html_letters + past)}--><p>${BAIT}</p>`) },
  ],
  links: (past) => {
    const links = Array.from({ length: LIMITS.links + past - 1 }, (_, at) => `https://example.org/${at}`);
    return [
      { content: [...links, LINK].join('\n') },
      { content: bytesOf(mailOf([], [FILLER, ...links, LINK].join('\n'))) },
      { content: html([...links, LINK].map((link) => `<a href="${link}">here</a> `).join('')) },
    ];
  },
  link_letters: (past) => {
    const link = `https://www.google.com/url?sa=${'x'.repeat(LIMITS.link_letters + past)}&q=${LINK}`;
    return [{ content: `${FILLER}${link}` }, { content: html(`<a href="${link}">here</a>`) }];
  },
  path_parts: (past) => [
    { content: `${FILLER}https://example.net/${'a/'.repeat(LIMITS.path_parts + past - 1)}paypal/login/verify` },
    { content: html(`<a href="https://example.net/${'a/'.repeat(LIMITS.path_parts + past - 1)}paypal/login">here</a>`) },
  ],
  redirects: (past) => {
    const chain = Array.from({ length: LIMITS.redirects + past }, (_, at) => `https://site${at}.example.org/`).map((site, at) =>
      at % 2 === 0 ? site : site.replace('.org', '.net'),
    );
    return [{ content: `${FILLER}${chain.join('')}${LINK}` }];
  },
  attachments: (past) => {
    const honest = Array.from({ length: LIMITS.attachments + past - 1 }, () => text(FILLER));
    return [
      { content: bytesOf(mailOf([...honest, { ...text('x'), name: 'virus.txt' }])) },
      { content: bytesOf(mailOf([...honest, text(BAIT)])) },
      {
        content: bytesOf(
          mailOf([
            ...honest.slice(5),
            { name: 'a.eml', type: 'message/rfc822', content: mailOf([...honest.slice(0, 5), text(BAIT)]) },
          ]),
        ),
      },
    ];
  },
  nested_mails: (past) => [{ content: bytesOf(nested(LIMITS.nested_mails + past)) }],
  pictures: async (past) => {
    const bait = await picturesOfCodes([LINK]);
    const part = (content: Uint8Array): Part => ({ name: 'a.png', type: 'image/png', content });
    const pictures = Array.from({ length: LIMITS.pictures + past - 1 }, () => white(40));
    const inline = [...pictures, bait].map((one) => `<img src="data:image/png;base64,${Buffer.from(one).toString('base64')}">`);
    return [{ content: bytesOf(mailOf([...pictures, bait].map(part))) }, { content: html(inline.join('')) }];
  },
  codes: async (past) => [
    { content: await picturesOfCodes([...Array.from({ length: LIMITS.codes + past - 1 }, () => HONEST_LINK), LINK]) },
  ],
  picture_pixels: (past) => [{ content: claimed(LIMITS.picture_pixels / 5_000 + past, 5_000, 0) }],
  picture_side: (past) => [{ content: claimed(LIMITS.picture_side + past, 30, 0) }],
  picture_bytes: (past) => [{ content: claimed(LIMITS.picture_bytes / 8 / 4_096 + past, 4_096, 6) }],
  picture_text_pixels: (past) => [{ content: claimed(LIMITS.picture_text_pixels / 2_500 + past, 2_500, 0) }],
  header_bytes: (past) => [
    { content: bytesOf(mailOf([], BAIT, `X-Long: ${'x '.repeat(40)}\r\n`.repeat(LIMITS.header_bytes / 90 + past))) },
    {
      name: 'a.eml',
      content: bytesOf(mailOf([], BAIT, `X-Long: ${'x '.repeat(40)}\r\n`.repeat(LIMITS.header_bytes / 90 + past))),
    },
  ],
  nested_parts: (past) => {
    const depth = LIMITS.nested_parts + past;
    const opened = Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`);
    return [{ content: bytesOf(`From: Ada <ada@example.org>\r\nSubject: Hello\r\n${opened.join('')}\r\n\r\n${BAIT}`) }];
  },
  // The questions themselves are counted in `email.test.ts`.
  dns_questions: () => [],
};

/** Parts that the answer names as cut, locked or failed. */
const unreadOf = ({ checked }: ScamAnswer) => checked.filter(({ code }) => code !== null && code in UNREAD_SENTENCES);

describe('a bait behind a limit is found, or the answer says that it was not read', () => {
  for (const [limit, inputs] of Object.entries(BEHIND))
    test(limit, async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 4 }), async (past) => {
          for (const { name = 'a.bin', content } of await inputs(past)) {
            const answer = typeof content === 'string' ? await check.checkText(content) : await check.checkFile(name, content);
            const { verdict } = answer;
            if (verdict === 'suspicious' || verdict === 'dangerous') continue;
            expect(verdict).toBe('not_checked');
            expect(unreadOf(answer)).not.toEqual([]);
          }
        }),
        { seed: 47, numRuns: 2 },
      );
    });
});

test('the surroundings of the baits are no sign, and each bait is one', async () => {
  const links = Array.from({ length: 50 }, (_, at) => `https://example.org/${at}`);
  for (const content of [
    bytesOf(filler(LIMITS.letters)),
    bytesOf(mailOf([text(FILLER), { name: 'a.eml', type: 'message/rfc822', content: mailOf() }])),
    html(links.map((link) => `<a href="${link}">here</a> `).join('')),
    await picturesOfCodes([HONEST_LINK, HONEST_LINK]),
  ])
    expect(await check.checkFile('a.bin', content)).toMatchObject({ verdict: 'nothing_found' });
  for (const content of [
    bytesOf(BAIT),
    bytesOf(mailOf([text(BAIT)])),
    bytesOf(mailOf([{ ...text('x'), name: 'virus.txt' }])),
    bytesOf(nested(LIMITS.nested_mails)),
    html(`<a href="${LINK}">here</a>`),
    await picturesOfCodes([HONEST_LINK, LINK]),
  ])
    expect(await check.checkFile('a.bin', content)).toMatchObject({ verdict: 'dangerous' });
});
