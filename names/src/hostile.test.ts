import { expect, it } from 'vitest';
import { hostileMessages, hostileRun } from '#test/hostile.ts';
import { answerTo, questionFor, seeded } from '#test/messages.ts';
import { disguise, isAnswerTo } from './upstream.ts';
import { readQuestion } from './wire.ts';

it('answers malformed messages in at most their bytes', async () => {
  expect(await hostileRun(40_000, 50)).toEqual({ crashes: 0, longer: 0 });
});

it('reads messages of every kind among those made', () => {
  const kinds = new Set<string>();
  for (const message of hostileMessages(20_000, 50)) {
    const reading = readQuestion(message);
    kinds.add(reading.kind === 'error' ? `error ${reading.rcode}` : reading.kind);
  }
  expect([...kinds].sort()).toEqual(['error 1', 'error 16', 'error 4', 'error 5', 'question', 'silence']);
});

it('takes no answer with another id, question or letter case', () => {
  const random = seeded(51);
  const query = questionFor('accounts.example.com');
  const end = query.length - 11;
  let taken = 0;
  for (let count = 0; count < 100_000; count++) {
    const sent = disguise(query);
    const forged = answerTo(sent, [{ type: 1, data: Buffer.from([192, 0, 2, 1]) }]);
    if (count === 0) expect(isAnswerTo(sent, end, forged)).toBe(true);
    const at = Math.floor(random() * (end - 2));
    // One bit of the id or of the question, letter case among them.
    forged[at < 2 ? at : at + (at < 12 ? 10 : 2)] =
      (forged[at < 2 ? at : at + (at < 12 ? 10 : 2)] ?? 0) ^ (1 << Math.floor(random() * 8));
    if (isAnswerTo(sent, end, forged)) taken++;
  }
  expect(taken).toBe(0);
});
