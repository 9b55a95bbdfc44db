import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { domainSum, writeDomainSums } from './domain-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-domains-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

async function sumsOf(text: string, strict = false) {
  files += 1;
  const [source, target] = [join(folder, `${files}.txt`), join(folder, `${files}.sums`)];
  writeFileSync(source, text);
  const { lines } = await writeDomainSums(source, target, strict);
  return { lines, sums: readFileSync(target, 'utf8').trim().split('\n') };
}

test.each([
  ['a name', 'bad.example.net', ['bad.example.net']],
  ['a name with capitals and a final dot', 'BAD.Example.net.', ['bad.example.net']],
  ['a wildcard', '*.bad.example.net', ['bad.example.net']],
  ['a hosts file', '127.0.0.1 localhost\n0.0.0.0 bad.example.net # since May', ['bad.example.net']],
  ['a block rule', '! title\n||bad.example.net^', ['bad.example.net']],
  ['an address', 'https://bad.example.net/a/b?c=d#e', ['bad.example.net/a/b?c=d']],
  ['an address without a path', 'http://bad.example.net:8080/', ['bad.example.net']],
  ['an address at a number', 'http://198.51.100.7/x.sh', ['198.51.100.7/x.sh']],
  ['letters of another script', 'https://b\u00fccher.example/x', ['xn--bcher-kva.example/x']],
  ['CSV of URLhaus', '"3","2026-11-26 07:00:00","http://bad.example.net/i","online","malware"', ['bad.example.net/i']],
  ['CSV of PhishTank', 'phish_id,url,verified\n8,http://bad.example.net/p,yes', ['bad.example.net/p']],
])('reads %s', async (_name, text, entries) => expect((await sumsOf(text)).sums).toEqual(entries.map(domainSum)));

test('counts lines without an entry, and refuses a list of nothing else', async () => {
  expect(await sumsOf('bad.example.net\nwords of somebody')).toMatchObject({ lines: 1 });
  await expect(sumsOf('words of somebody')).rejects.toThrow('The list holds no domain or address.');
  await expect(sumsOf('bad.example.net\nwords of somebody', true)).rejects.toThrow('Line 2 of the list');
});
