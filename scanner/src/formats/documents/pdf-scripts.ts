import type { Member } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import type { Lock } from './pdf-lock.ts';
import { SCRIPT_BYTES, stringOf } from './pdf-streams.ts';

// Scripts of a PDF that are stored as strings.

const OBJECT_WITHIN = 4096;

const SCRIPT = Buffer.from('/JS');
export const SCRIPTS_MAXIMUM = 100;

/** The script strings in an object stream. They are not encrypted separately (7.5.7). */
export function* packedScripts(text: string): Generator<Buffer> {
  for (let at = text.indexOf('/JS'); at >= 0; at = text.indexOf('/JS', at + 3)) {
    const [gap = ''] = /^\s{0,16}(?=[(<])/.exec(text.slice(at + 3, at + 20)) ?? [];
    const start = at + 3 + gap.length;
    if (!/^(\(|<[^<])/.test(text.slice(start, start + 2))) continue;
    const script = stringOf(text.slice(start, start + SCRIPT_BYTES.most));
    if (script === undefined || script.length === 0) continue;
    yield script;
    at = start + script.length;
  }
}

/** The script strings of the document, decrypted, as members. */
export function* scriptsIn(reader: Reader, lock: Lock | undefined): Generator<Member> {
  let number = 0;
  let after = 0;
  for (
    let at = reader.find(SCRIPT, 0);
    at >= 0 && number < SCRIPTS_MAXIMUM;
    at = reader.find(SCRIPT, Math.max(at + SCRIPT.length, after))
  ) {
    const [gap = ''] = /^\s{0,16}(?=[(<])/.exec(reader.at(at + SCRIPT.length, 20).toString('latin1')) ?? [];
    const start = at + SCRIPT.length + gap.length;
    const first = reader.at(start, 2).toString('latin1');
    if (!/^(\(|<[^<])/.test(first)) continue;
    const short = reader.at(start, SCRIPT_BYTES.quick).toString('latin1');
    const quick = stringOf(short);
    const is_long = quick !== undefined && quick.length > SCRIPT_BYTES.quick / 8;
    const written = is_long ? stringOf(reader.at(start, SCRIPT_BYTES.most).toString('latin1')) : quick;
    if (written === undefined || written.length === 0) continue;
    after = start + written.length;
    const from = Math.max(0, at - OBJECT_WITHIN);
    const object =
      lock === undefined
        ? undefined
        : [
            ...reader
              .at(from, at - from)
              .toString('latin1')
              .matchAll(/(\d{1,10})\s\d{1,5}\sobj/g),
          ].at(-1);
    const bytes =
      object === undefined
        ? written
        : Buffer.concat([...(lock?.opened([written], { number: Number(object[1]), dictionary: '' }) ?? [])]);
    number += 1;
    yield { name: `script ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}
