import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EICAR as EICAR_BYTES } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#agent/ids.ts';
import { Quarantine } from './quarantine.ts';

const EICAR = EICAR_BYTES.toString('latin1');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-scan-'));
});

describe('the quarantine', () => {
  const stats = (path: string) => lstatSync(path, { bigint: true });

  it('seals a file and puts it back as it was', async () => {
    const path = Buffer.from(join(root, 'found'));
    writeFileSync(path, EICAR);
    chmodSync(path, 0o640);
    const folder = join(root, 'quarantine');
    const quarantine = new Quarantine(folder);
    const id = newId();
    expect(await quarantine.take(id, path, stats(path.toString()))).toEqual({ ok: true });
    expect(existsSync(path)).toBe(false);
    const sealed = readFileSync(join(folder, `${id}.sealed`));
    expect([sealed.includes('EICAR'), sealed.length]).toEqual([false, EICAR.length + 28]);
    expect(lstatSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'something else');
    expect(JSON.stringify(await quarantine.restore(id))).toContain('Another file has its name');
    expect(readFileSync(path, 'utf8')).toBe('something else');
    rmSync(path);
    expect(await quarantine.restore(id)).toEqual({ ok: true, path });
    expect([readFileSync(path, 'utf8'), lstatSync(path).mode & 0o777]).toEqual([EICAR, 0o640]);
    expect(readdirSync(folder)).toEqual(['key']);
    expect(readdirSync(root).sort()).toEqual(['found', 'quarantine']);
  });

  it('restores no file that was changed while it was sealed', async () => {
    const path = Buffer.from(join(root, 'found'));
    const quarantine = new Quarantine(join(root, 'quarantine'));
    const id = newId();
    writeFileSync(path, EICAR);
    await quarantine.take(id, path, stats(path.toString()));
    const sealed = join(root, 'quarantine', `${id}.sealed`);
    const bytes = readFileSync(sealed);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    writeFileSync(sealed, bytes);
    expect(await quarantine.restore(id)).toMatchObject({ ok: false });
    expect(readdirSync(root)).toEqual(['quarantine']);
  });

  // proves: device-fault-16
  it('takes no file that changed or vanished meanwhile, and no link in its place', async () => {
    const path = Buffer.from(join(root, 'found'));
    const quarantine = new Quarantine(join(root, 'quarantine'));
    writeFileSync(path, EICAR);
    const before = stats(path.toString());
    writeFileSync(path, `${EICAR} and more`);
    expect(JSON.stringify(await quarantine.take(newId(), path, before))).toContain('changed');
    expect(existsSync(path)).toBe(true);
    rmSync(path);
    expect(JSON.stringify(await quarantine.take(newId(), path, before))).toContain('gone');
    symlinkSync('/etc/passwd', path);
    expect(await quarantine.take(newId(), path, before)).toMatchObject({ ok: false });
    expect(existsSync('/etc/passwd')).toBe(true);
    expect(readdirSync(join(root, 'quarantine')).filter((name) => name.endsWith('.sealed'))).toEqual([]);
  });

  // As another user, the folders above belong to another user in the namespace, and no file is taken out of those.
  const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['-rm', 'true']).status === 0;
  // proves: device-fault-15
  needing('root', can_mount).test('leaves a file where it is when the disk is full, and says so', () => {
    mkdirSync(join(root, 'small'));
    writeFileSync(join(root, 'found'), Buffer.alloc(1024 ** 2, EICAR));
    const script = `
      import { lstatSync } from 'node:fs';
      import { Quarantine } from '${new URL('./quarantine.ts', import.meta.url).pathname}';
      const path = '${join(root, 'found')}';
      const taken = await new Quarantine('${join(root, 'small')}').take('${newId()}', Buffer.from(path), lstatSync(path, { bigint: true }));
      process.stdout.write(JSON.stringify(taken));`;
    writeFileSync(join(root, 'full.ts'), script);
    const said = execFileSync(
      'unshare',
      [
        '-rm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=200k none "${join(root, 'small')}" && exec "${process.execPath}" "${join(root, 'full.ts')}"`,
      ],
      { encoding: 'utf8' },
    );
    expect(JSON.parse(said)).toEqual({ ok: false, reason: 'There is no room on the disk to seal it, so it lies where it was.' });
    expect(lstatSync(join(root, 'found')).size).toBe(1024 ** 2);
  });
});
