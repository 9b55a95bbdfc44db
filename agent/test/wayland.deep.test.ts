import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished, vi } from 'vitest';
import { RfbGate } from '#control/rfb-gate.ts';
import { findVnc } from '#control/vnc.ts';
import { encodings, pointer, shakeHands, typeWithShift, updateRequest } from './viewer.ts';

// A desktop of Wayland in memory (Sway without a screen), a terminal on it, and wayvnc as its person starts it.

const PROGRAMS = { sway: 'sway', wayvnc: 'wayvnc', foot: 'foot', setpriv: 'util-linux' } as const;
const PATH = process.env['PATH'] ?? '';
const missing = Object.entries(PROGRAMS).filter(
  ([program]) => !PATH.split(delimiter).some((folder) => existsSync(join(folder, program))),
);
const NO_WAYLAND =
  process.platform !== 'linux'
    ? 'it is of Linux alone'
    : missing.length > 0
      ? `not on this machine: ${missing.map(([, name]) => name).join(', ')} (packages)`
      : undefined;
if (NO_WAYLAND !== undefined) process.stdout.write(`Control of a desktop of Wayland was not tried: ${NO_WAYLAND}\n`);

const NOBODY = 65_534;
const UID = process.getuid?.() === 0 ? NOBODY : (process.getuid?.() ?? NOBODY);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return address.port;
}

needing('a desktop of Wayland', NO_WAYLAND === undefined).test(
  'a desktop of Wayland is seen and controlled through wayvnc, as far as is granted',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-wayland-'));
    const [run, typed, ready, port] = [join(folder, 'run'), join(folder, 'typed'), join(folder, 'ready'), await freePort()];
    mkdirSync(run);
    chmodSync(run, 0o700);
    writeFileSync(
      join(folder, 'read.sh'),
      `: > ${ready}\nwhile IFS= read -r line; do printf '%s\\n' "$line" >> ${typed}; done\n`,
    );
    writeFileSync(join(folder, 'sway.conf'), `xwayland disable\nexec foot /bin/sh ${join(folder, 'read.sh')}\n`);
    // Compositors of wlroots refuse to be root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) for (const path of [folder, run]) chownSync(path, NOBODY, NOBODY);
    const environment = {
      PATH,
      HOME: folder,
      LANG: 'C.UTF-8',
      XDG_RUNTIME_DIR: run,
      WLR_BACKENDS: 'headless',
      WLR_LIBINPUT_NO_DEVICES: '1',
      WLR_RENDERER: 'pixman',
    };
    const as_nobody = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
    const children: ChildProcess[] = [];
    const start = (line: readonly string[], more: NodeJS.ProcessEnv = {}) => {
      const [program = '', ...args] = [...as_nobody, ...line];
      const child = spawn(program, args, { env: { ...environment, ...more }, stdio: 'ignore' });
      children.push(child);
      return new Promise<void>((resolve) => child.once('exit', () => resolve()));
    };
    const ends: Promise<void>[] = [];
    onTestFinished(async () => {
      for (const child of children.toReversed()) child.kill();
      await Promise.all(ends);
      rmSync(folder, { recursive: true, force: true });
    });

    const parts = { folder, path: PATH, port };
    expect(await findVnc({ kind: 'wayland', uid: UID }, parts)).toHaveProperty('missing', expect.stringContaining('wayvnc'));
    ends.push(start(['sway', '-c', join(folder, 'sway.conf')]));
    await eventually(() => expect(existsSync(ready)).toBe(true));
    const display = readdirSync(run).find((name) => /^wayland-\d+$/u.test(name));
    ends.push(start(['wayvnc', '127.0.0.1', String(port)], { WAYLAND_DISPLAY: display }));
    const found = await eventually(async () => {
      const looked = await findVnc({ kind: 'wayland', uid: UID }, parts);
      if ('missing' in looked) throw new Error(looked.missing);
      return looked;
    });

    const vnc = await found.open();
    onTestFinished(() => vnc.stop());
    let heard = Buffer.alloc(0);
    const malformed: string[] = [];
    const gate = new RfbGate({
      allowed: { input: false, clipboard: false },
      toViewer: (bytes) => (heard = Buffer.concat([heard, bytes])),
      toScreen: (bytes) => void vnc.stream.write(bytes),
      onMalformed: (reason) => malformed.push(reason),
    });
    vnc.stream.on('data', (bytes: Buffer) => gate.fromScreen(bytes));
    const say = (bytes: Buffer) => gate.fromViewer(bytes);
    const { width, height } = await shakeHands(() => heard, say);
    say(encodings(16, 0, -239));
    const before = heard.length;
    // Again until the compositor has drawn its first picture.
    await vi.waitFor(
      () => {
        say(updateRequest(width, height));
        expect(heard.length).toBeGreaterThan(before + 1_000);
      },
      { timeout: 40_000, interval: 500 },
    );

    // With the view alone, typed text goes nowhere; granted, all of it arrives.
    say(typeWithShift('not this\n'));
    gate.allow({ input: true, clipboard: false });
    say(pointer(Math.round(width / 2), Math.round(height / 2)));
    const text = "The quick brown fox, 0123456789: [(-=\\;'</)]\n";
    say(typeWithShift(text));
    await eventually(() => expect([existsSync(typed) && readFileSync(typed, 'utf8'), malformed]).toEqual([text, []]));
  },
);
