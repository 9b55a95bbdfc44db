import { spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import { parseEnvironmentFile, takeServiceSettings } from '#server/service-settings.ts';
import { afterFile } from './after-file.ts';
import { runCommand } from './server-process.ts';

const COMMAND = fileURLToPath(new URL('../../bin/palisade', import.meta.url));
const NAMES = ['backup', 'restore', 'verify', 'outbox', 'accept-keys', 'update-signatures', 'move-storage'];
/** A user that owns nothing else. */
const SERVICE_USER = 12_345;
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('skipped: commands of root need root\n');

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-command-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('the command', () => {
  test('says what there is, and what there is not', async () => {
    const help = await runCommand('help', {});
    expect(help.code).toBe(0);
    for (const name of NAMES) expect(help.output).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    expect(await runCommand('toString', {})).toEqual({
      code: 1,
      output: 'palisade: There is no command named toString. See palisade help.\n',
    });
    expect(await runCommand('verify', {}, ['--nothing'])).toEqual({
      code: 1,
      output: 'palisade: Usage: palisade verify [--head <head>]\n',
    });
  });

  test.each(NAMES.filter((name) => name !== 'restore'))('%s makes no folder of a mistyped DATA_DIR', async (name) => {
    const DATA_DIR = join(newFolder(), 'mistyped');
    const args = name === 'backup' ? [newFolder()] : name === 'accept-keys' ? ['audit'] : [];
    const { code, output } = await runCommand(name, { DATA_DIR }, args);
    expect([code, output]).toEqual([
      1,
      `palisade: There is no data folder at ${DATA_DIR}. Set DATA_DIR to the server’s data folder.\n`,
    ]);
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

describe('bin/palisade', () => {
  test.each([
    ['x86_64', 'x64'],
    ['aarch64', 'arm64'],
  ])('runs on %s with the Node for %s, from any folder and through a link', (machine, cpu) => {
    const place = newFolder();
    const node = join(place, `node_modules/node-linux-${cpu}/bin`);
    for (const folder of [node, join(place, 'server/dist'), join(place, 'path')]) mkdirSync(folder, { recursive: true });
    cpSync(COMMAND, join(place, 'bin/palisade'));
    writeFileSync(join(node, 'node'), '#!/bin/sh\necho "$0 $@"\n', { mode: 0o755 });
    writeFileSync(join(place, 'path/uname'), `#!/bin/sh\necho ${machine}\n`, { mode: 0o755 });
    spawnSync('ln', ['-s', join(place, 'bin/palisade'), join(place, 'path/palisade')]);
    const run = () =>
      spawnSync(join(place, 'path/palisade'), ['backup', 'a b'], {
        cwd: '/',
        env: { PATH: `${place}/path:/usr/bin:/bin` },
        encoding: 'utf8',
      });
    expect(run().stderr).toContain('Run npm run build there');
    writeFileSync(join(place, 'server/dist/palisade.js'), '');
    expect(run().stdout).toBe(`${node}/node ${place}/server/dist/palisade.js backup a b\n`);
  });
});

describe('under systemd', () => {
  test('the settings of the unit are taken, unless the environment names another data folder', () => {
    const folder = newFolder();
    const service = {
      unit: join(folder, 'palisade.service'),
      settings: join(folder, 'palisade.env'),
      data_dir: '/var/lib/palisade',
    };
    const taken = (environment: NodeJS.ProcessEnv) => {
      takeServiceSettings(environment, service);
      return environment;
    };
    expect(taken({})).toEqual({});
    writeFileSync(service.unit, '');
    expect(taken({})).toEqual({ DATA_DIR: '/var/lib/palisade' });
    writeFileSync(service.settings, 'PORT=3000\nREDIS_URL=redis://cache');
    const settings = { DATA_DIR: '/var/lib/palisade', PORT: '3000', REDIS_URL: 'redis://cache' };
    expect(taken({})).toEqual(settings);
    expect(taken({ DATA_DIR: '/var/lib/palisade/', PORT: '4000' })).toEqual({
      ...settings,
      DATA_DIR: '/var/lib/palisade/',
      PORT: '4000',
    });
    expect(taken({ DATA_DIR: '/other' })).toEqual({ DATA_DIR: '/other' });
  });

  // The values are those that systemd 252 reads (30-systemd-environment-d-generator, whose reader is the same).
  test.each([
    ['a pin of a feed', 'A=yara+https://h/r.tar.gz#sha256=aa', 'yara+https://h/r.tar.gz#sha256=aa'],
    ['a password with a number sign', 'A=x # c', 'x # c'],
    ['a value on two lines', 'A=a\\\nb', 'ab'],
    ['single, then double quotes', `A='a b'"c d"`, 'a bc d'],
    ['quotes within a value', `A=pass"word'`, `pass"word'`],
    ['escapes between double quotes', String.raw`A="q\n\"x\\ z" `, String.raw`q\n"x\ z`],
    ['escapes without quotes', String.raw`A=a\b\\c  `, String.raw`ab\c`],
    ['spaces around', ' A = spaced\t', 'spaced'],
    ['a line break between quotes', 'A="one\ntwo"', 'one\ntwo'],
    ['a comment', '# A=1\n; A=2', undefined],
    ['a comment that continues', '#x \\\nA=1', undefined],
    ['a shell command', 'export A=1', undefined],
    ['lines of Windows', 'A=1\r\nB=2', '1'],
  ])('reads %s in the settings as systemd does', (_, text, value) => {
    expect(parseEnvironmentFile(`${text}\nZ=last`)).toMatchObject({ Z: 'last' });
    expect(parseEnvironmentFile(text)['A']).toBe(value);
  });

  needing('root', isRoot).test(
    'what root does belongs to the owner of the data folder, in a backup, a restore and the other commands',
    async () => {
      const folder = newFolder();
      const [DATA_DIR, restored] = [join(folder, 'data'), join(folder, 'restored')];
      for (const one of [DATA_DIR, restored]) {
        mkdirSync(one);
        chownSync(one, SERVICE_USER, SERVICE_USER);
      }
      const database = openDatabase<unknown>({ sqlite: join(DATA_DIR, 'palisade.sqlite') });
      await migrate(database, migrations);
      await database.destroy();
      spawnSync('chown', ['-R', `${SERVICE_USER}:${SERVICE_USER}`, DATA_DIR]);
      const ownersIn = (path: string) =>
        new Set(readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => lstatSync(join(path, name)).uid));
      const archive = join(folder, 'backup.tar');
      const results = [
        await runCommand('backup', { DATA_DIR }, [archive]),
        await runCommand('restore', { DATA_DIR: restored }, [archive, '--trust']),
      ];
      for (const { code, output } of results) {
        expect(code).toBe(0);
        expect(output).not.toContain('belongs to another user');
      }
      spawnSync('chmod', ['755', folder]);
      expect(await runCommand('accept-keys', { DATA_DIR: restored }, ['quarantine'])).toMatchObject({ code: 0 });
      expect(readFileSync(join(restored, 'keys/quarantine.key'))).toHaveLength(32);
      for (const path of [DATA_DIR, restored]) expect(ownersIn(path)).toEqual(new Set([SERVICE_USER]));
    },
  );
});
