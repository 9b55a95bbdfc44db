import { setImmediate as turn } from 'node:timers/promises';
import { ListLines, linesIn } from './list-lines.ts';
import { type NameList, NameListBuilder } from './name-list.ts';

const LINES_AT_ONCE = 10;
const TURN_MS = 10;

/**
 * Reads a list in steps, and yields to other work between them.
 * @param parts - the bytes of the list
 * @param names_maximum - the maximum number of names
 * @throws Error for more names than that, or none
 */
export async function readList(parts: AsyncIterable<Buffer>, names_maximum: number): Promise<NameList> {
  const builder = new NameListBuilder();
  const reader = new ListLines();
  let count = 0;
  let turned_at = performance.now();
  for await (const lines of linesIn(parts)) {
    for (const [index, line] of lines.entries()) {
      for (const name of reader.read(line)) {
        builder.add(name);
        count++;
      }
      if (count > names_maximum) throw new Error(`It has more than ${names_maximum} names.`);
      if (index % LINES_AT_ONCE !== 0 || performance.now() - turned_at < TURN_MS) continue;
      await turn();
      turned_at = performance.now();
    }
  }
  if (count === 0) throw new Error('It has no names.');
  return await builder.finish();
}
