import { checkScamText } from '@palisade/contract/scam-check';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, test } from 'vitest';
import { startFeedServer } from '#test/feed-server.ts';
import { replyOf, startScanningApp } from '#test/harness.ts';

test('a feed of domains is asked about links', async () => {
  const feeds = await startFeedServer();
  feeds.put(
    '/list.csv',
    Buffer.from('# id,date,url\n"1","2026-11-26","http://bad-host.example.net/pay/me"\n||whole-host.example.net^\n'),
  );
  const fed = await startScanningApp({
    environment: { SIGNATURE_FEEDS: `domains+${feeds.url}/list.csv#tls` },
    surroundings: { signatures_look_ms: 50, mail_zone: {} },
  });
  const { token } = await fed.signIn();
  await eventually(() => expect(fed.app.signatures.domainLists()).toHaveLength(1));
  const codesOf = async (text: string) => {
    const { verdict, reasons } = replyOf(await fed.call(checkScamText, { token, body: { text } }));
    return [verdict, ...reasons.map(({ code }) => code)];
  };
  expect(await codesOf('See http://bad-host.example.net/pay/me')).toEqual(['dangerous', 'listed_domain']);
  expect(await codesOf('See https://www.whole-host.example.net/x')).toEqual(['dangerous', 'listed_domain']);
  expect(await codesOf('See http://bad-host.example.net/')).toEqual(['nothing_found']);
});
