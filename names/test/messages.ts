import { wireName } from '#names/wire.ts';

/** Numbers that are the same in each run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function nameOf(text: string): Buffer {
  const name = wireName(text);
  if (name === undefined) throw new Error(`No name: ${text}`);
  return name;
}

const OPT = Buffer.from([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]);

/** A question as a client sends it. `options` are bytes in its OPT record. */
export function questionFor(
  text: string,
  {
    type = 1,
    id = 7,
    edns = true,
    options = Buffer.alloc(0),
  }: { type?: number; id?: number; edns?: boolean; options?: Buffer } = {},
): Buffer {
  const head = Buffer.from([id >> 8, id & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, edns ? 1 : 0]);
  const opt = Buffer.concat([OPT, options]);
  opt.writeUInt16BE(options.length, 9);
  const labels = text.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, 1]), ...(edns ? [opt] : [])]);
}

function recordOf({ owner, type, ttl = 300, data }: Answered): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(ttl, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner === undefined ? Buffer.from([0xc0, 12]) : nameOf(owner), head, data]);
}

export interface Answered {
  owner?: string;
  type: number;
  ttl?: number;
  data: Buffer;
}

/** An upstream's answer to a message, with an OPT record. */
export function answerTo(query: Buffer, answers: readonly Answered[], { flags = 0x8180 } = {}): Buffer {
  let end = 12;
  while (query[end] !== 0) end += 1 + (query[end] ?? 0);
  const answer = Buffer.concat([query.subarray(0, end + 5), ...answers.map(recordOf), OPT]);
  answer.writeUInt16BE(flags, 2);
  answer.writeUInt16BE(answers.length, 6);
  answer.writeUInt16BE(0, 8);
  answer.writeUInt16BE(1, 10);
  return answer;
}
