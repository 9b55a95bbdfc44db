import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { findDesktop } from '#control/desktop.ts';
import { readActiveSession } from '#control/login-session.ts';
import { findVnc } from '#control/vnc.ts';

// Opens the VNC server of the signed-in session's desktop, as remote control does, and prints its first bytes and the kernel's facts about its process. Then it ends it.
const [folder = '', program = ''] = process.argv.slice(2);
// It finds this program and no other.
const path = `${folder}/programs`;
execFileSync('sh', ['-c', `mkdir -m 755 ${path}; ln -s "$(command -v ${program})" ${path}/${program}; chmod 711 ${folder}`]);
const desktop = await findDesktop({}, await readActiveSession());
const found = await findVnc(desktop, { folder, path });
if ('missing' in found) throw new Error(found.missing);
const { stream, stop } = await found.open();
const banner = await new Promise<string>((resolve, reject) => {
  stream.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
  stream.once('close', () => reject(new Error('the VNC server ended')));
});
const pids = () => execFileSync('sh', ['-c', `pgrep -x ${program} || true`], { encoding: 'utf8' }).trim();
const status = execFileSync('sh', ['-c', `grep -E '^(Uid|Gid|Groups|CapEff|CapPrm):' /proc/${pids()}/status`], {
  encoding: 'utf8',
});
stop();
for (const end = performance.now() + 5_000; pids() !== '' && performance.now() < end; )
  await new Promise((resolve) => setTimeout(resolve, 20));
const rooms = () => readdirSync('/tmp').filter((name) => name.startsWith('.palisade-'));
for (const end = performance.now() + 5_000; rooms().length > 0 && performance.now() < end; )
  await new Promise((resolve) => setTimeout(resolve, 20));
const facts = Object.fromEntries(
  status
    .trim()
    .split('\n')
    .map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
);
process.stdout.write(`${JSON.stringify({ banner, ...facts, left: pids() + rooms().join() })}\n`);
process.exit();
