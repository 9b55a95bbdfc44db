import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inside, MOUNT_REPOSITORY, unitsCapabilities } from './confined.ts';

// The desktop that remote control shows, while another local user tries to have theirs shown. In mount, network and process namespaces of the test.

const [PERSON, ATTACKER] = [4_001, 4_002];
const GROUP = 4_003;
const SECONDS = 30;
const NODE = inside(process.execPath);
const ATTACKER_PROGRAM = inside(new URL('./desktop-attacker.sh', import.meta.url).pathname);
const SCREEN = inside(new URL('./x-screen.ts', import.meta.url).pathname);
const VNC = inside(new URL('./run-vnc.ts', import.meta.url).pathname);
const FIND = inside(new URL('./find-desktop.ts', import.meta.url).pathname);

/** Why it cannot be tried here. */
function refusal(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs two users of Linux, and so root';
  const made = spawnSync('unshare', [
    '-mnp',
    '--fork',
    '--mount-proc',
    'setpriv',
    '--reuid',
    `${PERSON}`,
    process.execPath,
    '-v',
  ]);
  return made.status === 0 ? undefined : 'no namespaces can be made here';
}
const REFUSAL = refusal();
if (REFUSAL !== undefined) process.stdout.write(`The owner of the desktop was not tried: ${REFUSAL}\n`);

/** A computer at which a person is signed in to display :0, and another user is busy. `more` is run before the agent looks. */
function lookedFor(seconds: number, more = ''): Record<string, number> {
  const script = `set -e
${MOUNT_REPOSITORY}
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs none /run
mkdir -m 1777 /tmp/.X11-unix
mkdir -p /run/systemd/seats /run/systemd/sessions
printf 'ACTIVE=c2\\nACTIVE_UID=${PERSON}\\n' > /run/systemd/seats/seat0
printf 'UID=${PERSON}\\nACTIVE=1\\nSTATE=active\\nREMOTE=0\\nTYPE=x11\\nCLASS=user\\nSEAT=seat0\\n' > /run/systemd/sessions/c2
mkdir -m 700 /tmp/person /tmp/attacker
printf cookie > /tmp/person/.Xauthority
chown -R ${PERSON}:${PERSON} /tmp/person
chown ${ATTACKER}:${ATTACKER} /tmp/attacker
person='setpriv --reuid ${PERSON} --regid ${PERSON} --clear-groups'
attacker='setpriv --reuid ${ATTACKER} --regid ${ATTACKER} --clear-groups'
# The person is signed in first: whoever takes the name of a display before that keeps the X server from starting.
$person env ${NODE} ${SCREEN} /tmp/.X11-unix/X0 >/dev/null 2>&1 &
while [ ! -e /tmp/.X11-unix/X0 ]; do sleep 0.1; done
$attacker sh ${ATTACKER_PROGRAM} /tmp/attacker ${NODE} ${SCREEN} >/dev/null 2>&1 &
while [ ! -e /tmp/attacker/pipe ]; do sleep 0.1; done
DISPLAY=:0 HOME=/tmp/person $person sleep 1000 &
sleep 0.3
${more}
exec setpriv --bounding-set=-all,${unitsCapabilities()} --inh-caps=-all ${NODE} ${FIND} ${seconds}`;
  const { stdout, stderr } = spawnSync('unshare', ['-mnp', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    timeout: (seconds + 60) * 1_000,
    killSignal: 'SIGKILL',
  });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`nothing was said: ${stderr}`);
  return z.record(z.string(), z.number()).parse(JSON.parse(line));
}
const LOCAL = { timeout: 120_000 };

// proves: attack-E.8-1
test.skipIf(REFUSAL !== undefined)('shows the screen of the signed-in session whatever another user starts', LOCAL, () => {
  const answers = lookedFor(SECONDS);
  expect(Object.keys(answers)).toEqual([`:0 ${PERSON} cookie`]);
  expect(Object.values(answers)[0]).toBeGreaterThan(SECONDS);
});

// proves: attack-E.8-1
test.skipIf(REFUSAL !== undefined)('shows nothing while another user listens on the abstract name of the display', LOCAL, () => {
  const answers = lookedFor(2, `$attacker ${NODE} ${SCREEN} @/tmp/.X11-unix/X0 >/dev/null 2>&1 &\nsleep 1`);
  expect(Object.keys(answers)).toEqual(['none']);
});

test.skipIf(REFUSAL !== undefined)('shows nothing where the active session is another one', LOCAL, () => {
  const answers = lookedFor(2, `printf 'ACTIVE=c3\\nACTIVE_UID=${ATTACKER}\\n' > /run/systemd/seats/seat0`);
  expect(Object.keys(answers)).toEqual(['none']);
});

test.skipIf(REFUSAL !== undefined || !existsSync('/usr/bin/mkfifo'))('waits for no pipe in place of a cookie', LOCAL, () => {
  const answers = lookedFor(2, 'rm /tmp/person/.Xauthority; $person mkfifo /tmp/person/.Xauthority');
  expect(Object.keys(answers)).toEqual([`:0 ${PERSON} `]);
});

/** The desktop of a person who is signed in: a screen in memory that takes programs with the person's cookie alone, and the agent with the capabilities of its unit. */
function shown(program: string): Record<string, string> {
  const script = `set -e
${MOUNT_REPOSITORY}
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs none /run
printf 'root:x:0:0::/root:/bin/sh\\nanna:x:${PERSON}:${GROUP}::/tmp/person:/bin/sh\\n' > /run/passwd
mount --bind /run/passwd /etc/passwd
mkdir -m 1777 /tmp/.X11-unix
mkdir -m 700 /run/agent /tmp/person
mkdir -p /run/systemd/seats /run/systemd/sessions
printf 'ACTIVE=c2\\nACTIVE_UID=${PERSON}\\n' > /run/systemd/seats/seat0
printf 'UID=${PERSON}\\nACTIVE=1\\nSTATE=active\\nREMOTE=0\\nTYPE=x11\\nCLASS=user\\nSEAT=seat0\\n' > /run/systemd/sessions/c2
chown ${PERSON}:${GROUP} /tmp/person
person='setpriv --reuid ${PERSON} --regid ${GROUP} --clear-groups env HOME=/tmp/person'
$person xauth -q -f /tmp/person/.Xauthority add :0 . ${'0123456789abcdef'.repeat(2)}
$person Xvfb :0 -screen 0 320x200x24 -nolisten tcp -auth /tmp/person/.Xauthority >/dev/null 2>&1 &
while [ ! -e /tmp/.X11-unix/X0 ]; do sleep 0.1; done
DISPLAY=:0 $person sleep 1000 &
sleep 0.3
exec setpriv --bounding-set=-all,${unitsCapabilities()} --inh-caps=-all --no-new-privs ${NODE} ${VNC} /run/agent ${program}`;
  const { stdout, stderr } = spawnSync('unshare', ['-mnp', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  if (!stdout.startsWith('{')) throw new Error(`nothing was said: ${stderr}`);
  return z.record(z.string(), z.string()).parse(JSON.parse(stdout));
}

const isMissing = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0;
const MISSING = ['Xvfb', 'xauth', 'pgrep', 'x11vnc', 'X0tigervnc'].filter(isMissing);
if (MISSING.length > 0)
  process.stdout.write(`The rights of VNC servers were not all tried: not installed: ${MISSING.join(', ')}\n`);

// proves: attack-E.8-3
test.for(['x11vnc', 'X0tigervnc'])('shows a desktop with the rights of its person alone, by %s', LOCAL, (program, context) => {
  if (REFUSAL !== undefined || ['Xvfb', 'xauth', 'pgrep', program].some(isMissing)) return context.skip();
  const four = (id: number) => Array.from({ length: 4 }, () => id).join('\t');
  const { banner, ...facts } = shown(program);
  expect(banner).toMatch(/^RFB /u);
  expect(facts).toEqual({
    Uid: four(PERSON),
    Gid: four(GROUP),
    Groups: '',
    left: '',
    CapEff: '0000000000000000',
    CapPrm: '0000000000000000',
  });
});
