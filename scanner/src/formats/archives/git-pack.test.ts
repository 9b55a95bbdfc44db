import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { examinedTexts } from '#test/examined.ts';
import { EICAR, noise } from '#test/files.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-git-'));
const GIT = ['/usr/bin/git', '/usr/local/bin/git', '/opt/homebrew/bin/git'].find(existsSync);
if (GIT === undefined) process.stdout.write('skipped: git is not installed\n');

/** A repository of its own: no settings of the machine. */
function git(...words: string[]): string {
  const env = {
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  return execFileSync(GIT ?? 'git', ['-C', join(folder, 'work'), ...words], {
    env,
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const LONG = Array.from({ length: 4000 }, (_, line) => `line ${line} of a long text\n`).join('');
const read = (bytes: Buffer) => examinedTexts(bytes, { name: 'file.pack', match: () => [] });
const MARK = 'Words that stand in a change alone.';

function packIn(path: string): Buffer {
  const pack = readdirSync(path).find((name) => name.endsWith('.pack')) ?? '';
  return readFileSync(join(path, pack));
}

describe.runIf(GIT !== undefined)('a pack of git', () => {
  const work = join(folder, 'work');
  let pack: Buffer = Buffer.alloc(0);
  let by_name: Buffer = Buffer.alloc(0);
  let bundle: Buffer = Buffer.alloc(0);
  let thin: Buffer = Buffer.alloc(0);
  if (GIT !== undefined) {
    mkdirSync(work);
    git('init', '-q');
    writeFileSync(join(work, 'eicar.com'), EICAR);
    writeFileSync(join(work, 'noise'), noise(30_000));
    writeFileSync(join(work, 'long'), LONG);
    git('add', '.');
    git('commit', '-qm', 'first');
    for (const [number, words] of [MARK, 'two', 'three'].entries()) {
      writeFileSync(join(work, 'long'), LONG.replace('line 2000 of', `${words} ${number}`));
      git('commit', '-qam', `${words} again`);
    }
    git('repack', '-adfq', '--depth=50');
    pack = packIn(join(work, '.git/objects/pack'));
    git('bundle', 'create', '-q', join(work, 'all.bundle'), '--all');
    bundle = readFileSync(join(work, 'all.bundle'));
    git('bundle', 'create', '-q', join(work, 'thin.bundle'), 'HEAD', '^HEAD~1');
    thin = readFileSync(join(work, 'thin.bundle'));
    git('-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq');
    by_name = packIn(join(work, '.git/objects/pack'));
  }

  test('has every object read, those too that only say how they differ', async () => {
    for (const bytes of [pack, by_name, bundle]) {
      const { unread, texts, coverage } = await read(bytes);
      expect(unread).toEqual([]);
      expect(texts.some((text) => text === EICAR.toString('latin1'))).toBe(true);
      expect(texts.some((text) => text.includes(`${MARK} 0`) && text.length > LONG.length - 100)).toBe(true);
      const objects = Number(git('count-objects', '-v').match(/in-pack: (\d+)/)?.[1]);
      expect(coverage.members_total).toBe(objects);
    }
  });

  test('of which something lies elsewhere is pending, and so is a damaged one', async () => {
    expect((await read(thin)).unread).toEqual(['unsupported']);
    expect((await read(pack.subarray(0, pack.length / 2))).unread).toContain('damaged');
    const bent = Buffer.from(pack);
    bent.writeUInt32BE(0xffffffff, 8);
    expect((await read(bent)).unread).not.toEqual([]);
  });

  test('ends wherever it is bent', async () => {
    for (let at = 12; at < pack.length; at += Math.max(1, Math.floor(pack.length / 50))) {
      const bent = Buffer.from(pack);
      bent[at] = (bent[at] ?? 0) ^ 0x55;
      await read(bent);
    }
  });
});
