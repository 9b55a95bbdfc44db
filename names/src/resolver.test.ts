import { describe, expect, it } from 'vitest';
import { type Answered, answerTo, nameOf, questionFor } from '#test/messages.ts';
import { fitForUdp } from './answers.ts';
import type { LevelRules, Policy } from './decide.ts';
import { NameList } from './name-list.ts';
import { neverRefused } from './never-refused.ts';
import { readRecords } from './records.ts';
import { Resolver } from './resolver.ts';
import { nameText, readQuestion } from './wire.ts';

const ADDRESS = Buffer.from([192, 0, 2, 9]);
const blocks = (...names: string[]) => [{ category: 'ads', names: NameList.of(names.map(nameOf)) }];
const allows = (...names: string[]) => NameList.of(names.map(nameOf));

/** A resolver whose upstream answers from a table, and with an address of its own for other names. */
function made(table: Record<string, Answered[]> = {}) {
  const clock = { now: 1_800_000_000_000 };
  const asked: { name: string; query: Buffer }[] = [];
  const upstream = { isAway: false };
  const resolver = new Resolver({
    upstreams: [
      async (query) => {
        if (upstream.isAway) throw new Error('away');
        const name = nameText(query.subarray(12, query.indexOf(0, 12) + 1));
        asked.push({ name, query });
        return answerTo(query, table[name] ?? [{ type: 1, data: ADDRESS }]);
      },
    ],
    local: [],
    never: neverRefused(['palisade.example.net']),
    now: () => clock.now,
  });
  async function ask(
    name: string,
    {
      levels = [],
      type = 1,
      edns = true,
      ...rest
    }: Partial<Policy> & { levels?: LevelRules[]; type?: number; edns?: boolean } = {},
  ) {
    const policy: Policy = { levels, safe_search: 'off', seconds_maximum: 60, ...rest };
    const { answer = Buffer.alloc(12), refusal } = await resolver.resolve(questionFor(name, { type, edns }), policy);
    const records = readRecords(answer) ?? [];
    const at = answer.indexOf(Buffer.from([0, 15, 0, 2]));
    return {
      answer,
      rcode: answer.readUInt16BE(2) & 0xf,
      extended: at < 0 ? undefined : answer.readUInt16BE(at + 4),
      records: records
        .filter(({ section }) => section === 'answer')
        .map(({ type, ttl, data, end }) => ({ type, ttl, data: answer.subarray(data, end) })),
      refusal,
    };
  }
  return { ask, asked, clock, upstream };
}

describe('the decision', () => {
  it.each<[string, string, LevelRules[], string | undefined]>([
    ['a listed name', 'ads.example', [{ level: 'lists', blocked: blocks('ads.example') }], 'ads.example'],
    ['a name below a listed one', 'a.b.ads.example', [{ level: 'lists', blocked: blocks('ads.example') }], 'ads.example'],
    ['no name above a listed one', 'example.org', [{ level: 'lists', blocked: blocks('ads.example.org') }], undefined],
    ['a name whose label has a dot', 'other.example', [{ level: 'lists', blocked: blocks('r.example') }], undefined],
    [
      'the longest name of a level',
      'good.ads.example',
      [{ level: 'person', allowed: allows('good.ads.example'), blocked: blocks('ads.example') }],
      undefined,
    ],
    [
      'an earlier level first',
      'good.ads.example',
      [
        { level: 'person', blocked: blocks('ads.example') },
        { level: 'lists', allowed: allows('good.ads.example'), blocked: [] },
      ],
      'ads.example',
    ],
    [
      'a reason beside a cleared danger',
      'ads.example',
      [
        { level: 'dangerous', allowed: allows('ads.example'), blocked: blocks('example') },
        { level: 'lists', blocked: blocks('ads.example') },
      ],
      'ads.example',
    ],
    ['no captive portal', 'captive.apple.com', [{ level: 'person', blocked: blocks('apple.com') }], undefined],
    ['no name of the installation', 'palisade.example.net', [{ level: 'dangerous', blocked: blocks('example.net') }], undefined],
  ])('knows %s', async (_what, name, levels, rule) => {
    const { ask } = made();
    expect((await ask(name, { levels })).refusal?.rule).toBe(rule);
  });

  it('refuses in the client’s own letters, for two seconds, with the reason', async () => {
    const { ask } = made();
    const levels: LevelRules[] = [{ level: 'lists', blocked: blocks('ads.example') }];
    const { answer, rcode, extended } = await ask('AdS.example', { levels });
    const soa = readRecords(answer)?.find(({ type }) => type === 6);
    expect([rcode, extended, soa?.ttl, answer.subarray(12, 25).toString()]).toEqual([3, 17, 2, '\x03AdS\x07example\x00']);
    expect((await ask('ads.example', { levels: [{ level: 'dangerous', blocked: blocks('ads.example') }] })).extended).toBe(15);
    expect((await ask('ads.example', { levels, edns: false })).extended).toBe(undefined);
  });

  it('refuses a name that leads on to a refused one, unless an allow of that level covers it', async () => {
    const { ask } = made({
      'metrics.shop.example': [
        { type: 5, data: nameOf('x.tracker.example') },
        { owner: 'x.tracker.example', type: 1, data: ADDRESS },
      ],
    });
    const levels: LevelRules[] = [{ level: 'lists', blocked: blocks('tracker.example') }];
    expect((await ask('metrics.shop.example', { levels })).refusal).toMatchObject({
      name: 'metrics.shop.example',
      rule: 'tracker.example',
    });
    const allowed: LevelRules = { level: 'person', allowed: allows('shop.example'), blocked: [] };
    expect((await ask('metrics.shop.example', { levels: [allowed, ...levels] })).refusal).toBe(undefined);
    const dangerous: LevelRules = { level: 'dangerous', blocked: blocks('tracker.example') };
    expect((await ask('metrics.shop.example', { levels: [dangerous, allowed] })).refusal?.level).toBe('dangerous');
    const cleared: LevelRules = { ...dangerous, allowed: allows('shop.example') };
    expect((await ask('metrics.shop.example', { levels: [cleared] })).refusal).toBe(undefined);
    expect((await ask('metrics.shop.example', { levels: [cleared, ...levels] })).refusal?.level).toBe('lists');
  });

  it.each([
    ['A', 1, Buffer.from([192, 168, 1, 1])],
    ['AAAA', 28, Buffer.concat([Buffer.alloc(10), Buffer.from([255, 255, 10, 0, 0, 1])])],
    ['HTTPS', 65, Buffer.from([0, 1, 0, 0, 4, 0, 4, 127, 0, 0, 1])],
  ])('refuses a public name with a private address in %s', async (_type, type, data) => {
    const { ask } = made({ 'rebind.example': [{ type, data }] });
    expect((await ask('rebind.example', { type })).refusal?.category).toBe('private_address');
    const levels: LevelRules[] = [{ level: 'person', allowed: allows('rebind.example'), blocked: [] }];
    expect((await ask('rebind.example', { type, levels })).refusal).toBe(undefined);
  });
});

describe('answers', () => {
  it.each([
    ['localhost', 1, 0],
    ['printer.local', 1, 3],
    ['router', 1, 3],
    ['nas', 65, 3],
    ['printer', 16, 3],
    ['1.0.64.100.in-addr.arpa', 12, 3],
    ['1.1.168.192.in-addr.arpa', 12, 3],
    ['use-application-dns.net', 1, 3],
    ['_dns.resolver.arpa', 64, 0],
  ])('keep %s at home', async (name, type, rcode) => {
    const { ask, asked } = made();
    expect([(await ask(name, { type })).rcode, asked]).toEqual([rcode, []]);
  });

  it('forward what is asked of a top-level domain itself', async () => {
    const { ask, asked } = made();
    await ask('com', { type: 43 });
    expect(asked.map(({ name }) => name)).toEqual(['com']);
  });

  it('keep a search safe that a guardian allowed, and leave it to a person who allowed it', async () => {
    const { ask } = made();
    const types = async (level: 'guardian' | 'person') => {
      const levels: LevelRules[] = [{ level, allowed: allows('google.de'), blocked: [] }];
      return (await ask('www.google.de', { levels, safe_search: 'strict' })).records.map(({ type }) => type);
    };
    expect([await types('guardian'), await types('person')]).toEqual([[5, 1], [1]]);
  });

  it('lead searches to their safe names, and HTTPS records to nothing else', async () => {
    const { ask, asked } = made();
    const { records, extended } = await ask('www.google.de', { safe_search: 'moderate' });
    expect(records.map(({ type }) => type)).toEqual([5, 1]);
    expect(nameText(records[0]?.data ?? Buffer.alloc(1))).toBe('forcesafesearch.google.com');
    expect([extended, asked.map(({ name }) => name)]).toEqual([4, ['forcesafesearch.google.com']]);
    expect((await ask('www.youtube.com', { safe_search: 'strict', type: 65 })).records.map(({ type }) => type)).toEqual([5]);
    expect((await ask('www.google.de')).records.map(({ type }) => type)).toEqual([1]);
  });

  it('come from the cache while they hold, and up to a day later while upstreams are away', async () => {
    const { ask, asked, clock, upstream } = made();
    expect((await ask('shop.example')).records[0]?.ttl).toBe(60);
    clock.now += 290_000;
    expect((await ask('shop.example')).records[0]?.ttl).toBe(10);
    expect(asked.length).toBe(1);
    upstream.isAway = true;
    clock.now += 3_600_000;
    expect((await ask('shop.example')).records[0]).toMatchObject({ ttl: 30, data: ADDRESS });
    expect((await ask('new.example')).rcode).toBe(2);
    clock.now += 2 * 86_400_000;
    expect((await ask('shop.example')).rcode).toBe(2);
  });

  it('are forgotten when the clock is put back, and kept through a correction', async () => {
    const { ask, asked, clock } = made();
    await ask('shop.example');
    clock.now += 200_000;
    await ask('shop.example');
    clock.now -= 500;
    expect((await ask('shop.example')).records[0]?.ttl).toBe(60);
    expect(asked.length).toBe(1);
    clock.now -= 100_000;
    await ask('shop.example');
    expect(asked.length).toBe(2);
  });

  it('are asked without the client’s options', async () => {
    const resolver = made();
    await resolver.ask('shop.example');
    const query = resolver.asked[0]?.query ?? Buffer.alloc(0);
    expect(query.subarray(-11)).toEqual(Buffer.from([0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0]));
  });

  it('are truncated for UDP where they are too long for the client', async () => {
    const many = Array.from({ length: 40 }, () => ({ type: 1, data: ADDRESS }));
    const { ask } = made({ 'many.example': many });
    for (const [edns, fits] of [
      [true, true],
      [false, false],
    ] as const) {
      const { answer } = await ask('many.example', { edns });
      const reading = readQuestion(questionFor('many.example', { edns }));
      const sent = reading.kind === 'question' ? fitForUdp(reading.question, answer) : answer;
      expect([sent.length <= (edns ? 1232 : 512), (sent.readUInt16BE(2) & 0x200) === 0]).toEqual([true, fits]);
    }
  });

  it('have no OPT record for clients that sent none', async () => {
    const { ask } = made();
    expect((await ask('shop.example', { edns: false })).answer.readUInt16BE(10)).toBe(0);
    expect((await ask('shop.example')).answer.readUInt16BE(10)).toBe(1);
  });
});
