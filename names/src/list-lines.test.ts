import { expect, it } from 'vitest';
import { nameOf, seeded } from '#test/messages.ts';
import { ListLines, linesIn } from './list-lines.ts';
import { hashName, NameList, NameListBuilder, newHashes } from './name-list.ts';
import { nameText } from './wire.ts';

function namesIn(...lines: string[]) {
  const reader = new ListLines();
  return { names: lines.flatMap((line) => reader.read(line).map(nameText)), skipped: reader.skipped };
}

it.each([
  [
    'plain names',
    ['bad.example', '# a comment', 'Worse.Example.', '*.all.example'],
    ['bad.example', 'worse.example', 'all.example'],
  ],
  [
    'a hosts file',
    ['127.0.0.1 localhost', '0.0.0.0 ads.example track.example # both', '::1 ip6-localhost'],
    ['ads.example', 'track.example'],
  ],
  [
    'filter lines',
    ['! title', '||ads.example^', '||a.example^$important', '@@||good.example^', '||b.example^$third-party', '||c.example/x'],
    ['ads.example', 'a.example'],
  ],
  [
    'a response policy zone',
    [
      '$TTL 60',
      '$ORIGIN rpz.example.',
      '@ SOA ns.example. h.example. 1 2 3 4 5',
      'bad.example CNAME .',
      'worse.example.rpz.example. IN CNAME .',
      'good.example CNAME rpz-passthru.',
      '32.1.2.0.192.rpz-ip CNAME .',
    ],
    ['bad.example', 'worse.example'],
  ],
  ['names in other scripts', ['bücher.example'], ['xn--bcher-kva.example']],
  ['what belongs to many', ['com', 'co.uk', 'github.io', '||blogspot.com^', '0.0.0.0 org', 'x.github.io'], ['x.github.io']],
  ['no rules for parts of pages', ['shop.example##.ad', 'shop.example#@#.ad'], []],
  ['what is no name', ['192.0.2.1', '-', 'a b c', 'x'.repeat(2000), `${'x'.repeat(64)}.example`, '<html>', '..'], []],
])('reads %s', (_what, lines, names) => {
  expect(namesIn(...lines).names).toEqual(names);
});

it('counts the lines that say something else', () => {
  expect(namesIn('', '# fine', 'com', '<html>').skipped).toBe(2);
});

it('finds the names of a list and their endings, and no other', async () => {
  const random = seeded(53);
  const word = () => Math.floor(random() * 1e9).toString(36);
  const listed = Array.from({ length: 20_000 }, () => `${word()}.${word()}.example`);
  const builder = new NameListBuilder();
  for (const name of [...listed, ...listed.slice(0, 100)]) builder.add(nameOf(name));
  const list = await builder.finish();
  const small = NameList.of(listed.map(nameOf));
  const hashes = newHashes();
  expect([list.size, list.byteLength]).toEqual([20_000, 160_000]);
  for (const name of listed) {
    hashName(nameOf(`www.${name}`), hashes);
    const found = [0, 1, 2, 3].map((depth) => list.has(hashes, depth));
    expect(found).toEqual([false, false, true, false]);
    expect(small.has(hashes, 2)).toBe(true);
  }
});

it('reads lines that come in parts, and holds none that never ends', async () => {
  async function* parts() {
    const text = Buffer.from('bad.exa\nbücher.example\r\n');
    for (const byte of text) yield Buffer.from([byte]);
    for (let count = 0; count < 2_000; count++) yield Buffer.alloc(65_536, 'x');
    yield Buffer.from('\nworse.example\nlast.exam');
    yield Buffer.from('ple');
  }
  const lines: string[] = [];
  for await (const some of linesIn(parts())) lines.push(...some);
  expect(lines).toEqual(['bad.exa', 'bücher.example\r', '', 'worse.example', 'last.example']);
});
