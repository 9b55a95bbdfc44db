import { readAnswer } from '#names/cache.ts';
import { NameList } from '#names/name-list.ts';
import { Resolver } from '#names/resolver.ts';
import { readQuestion } from '#names/wire.ts';
import { answerTo, questionFor, seeded } from '#test/messages.ts';

const NAMES = ['example.com', 'a.b.c.d.e.f.example', `${'x'.repeat(63)}.${'y'.repeat(63)}.example.org`, 'com', 'www.Example.NET'];

/** Messages with wrong lengths, counts, types, pointers and sizes; a few of them are right. The same seed makes the same ones. */
export function* hostileMessages(count: number, seed: number): Generator<Buffer> {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let index = 0; index < count; index++) {
    const way = below(8);
    if (way === 0) {
      // Mostly short; some as long as a message can be.
      const bytes = Buffer.allocUnsafe(below(200) === 0 ? below(65_536) : below(120));
      for (let at = 0; at < bytes.length; at++) bytes[at] = below(256);
      yield bytes;
      continue;
    }
    const question = questionFor(NAMES[below(NAMES.length)] ?? 'com', {
      type: below(257),
      id: below(65_536),
      edns: below(2) === 0,
    });
    const bytes =
      below(4) === 0 ? answerTo(question, [{ owner: 'a.example', type: 5, data: question.subarray(12, 20) }]) : question;
    if (way === 1) {
      yield bytes.subarray(0, below(bytes.length + 1));
      continue;
    }
    if (way === 2) {
      yield Buffer.concat([bytes, Buffer.alloc(below(below(20) === 0 ? 65_000 : 40), below(256))]);
      continue;
    }
    for (let change = below(4); change >= 0; change--) {
      const at = way === 3 ? below(12) : below(bytes.length);
      bytes[at] = way === 4 ? 0xc0 | below(2) : below(256);
      if (way === 5 && at + 1 < bytes.length) bytes.writeUInt16BE(0xc000 | below(bytes.length + 4), at);
    }
    yield bytes;
  }
}

/** Gives messages to the reading of questions and of answers. */
export async function hostileRun(count: number, seed: number): Promise<{ crashes: number; longer: number }> {
  const resolver = new Resolver({ upstreams: [], local: [], never: NameList.of([]), now: () => 0 });
  const policy = { levels: [], safe_search: 'strict', seconds_maximum: 60 } as const;
  let crashes = 0;
  let longer = 0;
  for (const bytes of hostileMessages(count, seed)) {
    try {
      const { kind } = readQuestion(bytes);
      readAnswer(bytes, 0);
      const resolved = resolver.resolve(bytes, policy);
      const answer = kind === 'question' ? undefined : (await resolved).answer;
      if (answer !== undefined && answer.length > bytes.length) longer++;
      if (kind === 'question') await resolved;
    } catch {
      crashes++;
    }
  }
  return { crashes, longer };
}
