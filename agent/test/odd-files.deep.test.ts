import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '#agent/ids.ts';
import { type AgentUnderTest, ANNA, bundleAgentForAttacks, type Computer, createComputer, not_confined } from './confined.ts';

// Special files in a folder of a person: each is passed over at once, and its neighbours are read.

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join('');
const DOWNLOADS = '/home/anna/Downloads';
const MEMORY_MAXIMUM = 150 * 1024 ** 2;
const put = (path: string) => `echo ${Buffer.from(EICAR).toString('base64')} | base64 -d > ${path}`;

const scanReportSchema = z.object({
  state: z.string(),
  progress: z.object({ files_read: z.number(), files_known: z.number(), files_pending: z.number() }),
});

let computer: Computer;
let agent: AgentUnderTest;
beforeAll(() => {
  if (not_confined === undefined) bundleAgentForAttacks();
});
beforeEach(async (context) => {
  if (not_confined !== undefined) return context.skip(not_confined);
  computer = await createComputer();
  agent = computer.agent();
  await agent.ask({ what: 'hello' }, 120_000);
});
afterEach(async () => {
  if (not_confined !== undefined) return;
  await agent.stop();
  computer.end();
});

/** The paths that were found so far. */
async function found(): Promise<string[]> {
  const { found: all } = await agent.ask({ what: 'hello' });
  return Array.isArray(all) ? all.map((one: { path: string }) => one.path) : [];
}

// proves: attack-E.4-2
test('pipes, sockets and links in a watched folder do not delay files that are saved beside them', async () => {
  await agent.ask({ what: 'watch', path: DOWNLOADS });
  computer.shell(
    `cd ${DOWNLOADS}; mkfifo pipe; ln -s pipe to-pipe; ln -s /dev/zero to-zero; ln -s . here; truncate -s 64G sparse
    /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('${DOWNLOADS}/socket')"
    for n in 1 2 3 4 5 6; do mkfifo pipe$n; done
    ${put(`${DOWNLOADS}/beside.com`)}`,
    ANNA,
  );
  await vi.waitFor(async () => expect(await found()).toEqual([`${DOWNLOADS}/beside.com`]), { timeout: 60_000, interval: 200 });
  const report = await agent.ask({ what: 'scan', path: DOWNLOADS }, 60_000);
  expect(report).toMatchObject({ state: 'done', progress: { files_read: 0 } });
  expect(agent.peak()).toBeLessThan(MEMORY_MAXIMUM);
});

// proves: attack-E.4-2
test('a name with line breaks and escapes is found, taken away and put back as it was', async () => {
  const shown = `${DOWNLOADS}/a\nb\tc"; rm -rf ~\\x5cx41.com`;
  computer.shell(`cd ${DOWNLOADS}; ${put(`"$(printf 'a\\nb\\tc"; rm -rf ~\\\\x41.com')"`)}`, ANNA);
  const before = computer.shell(`ls -AQ ${DOWNLOADS}`);
  expect(await agent.ask({ what: 'scan', path: DOWNLOADS }, 60_000)).toMatchObject({
    state: 'done',
    progress: { files_read: 1 },
  });
  expect(await found()).toEqual([shown]);
  expect(computer.shell(`ls -A ${DOWNLOADS}`)).toBe('');
  const id = newId();
  computer.shell(`cd ${DOWNLOADS}; echo evil > "$(printf 'a\\nb\\tc"; rm -rf ~\\\\x41.com')"`, ANNA);
  const path = `${DOWNLOADS}/a\nb\tc"; rm -rf ~\\x41.com`;
  expect(await agent.ask({ what: 'take', id, path })).toMatchObject({ ok: true });
  expect(computer.shell(`ls -A ${DOWNLOADS}`)).toBe('');
  expect(await agent.ask({ what: 'restore', id })).toMatchObject({ ok: true });
  expect(computer.shell(`ls -AQ ${DOWNLOADS}`)).toBe(before);
});

// proves: attack-E.4-2
test('a hard link of a system file in a home does not change that file', async () => {
  computer.shell(`echo secret > /etc/shadow; chmod 600 /etc/shadow; mount -t tmpfs -o mode=755 none /home
    mkdir -p ${DOWNLOADS} /home/system; chmod 755 /home/anna; chown anna:anna /home/anna ${DOWNLOADS}
    cp -p /etc/shadow /home/system/shadow; ln /home/system/shadow ${DOWNLOADS}/mine`);
  const state = () => computer.shell('stat -c "%u %g %a %i %Y" /home/system/shadow; cat /home/system/shadow');
  const before = state();
  const id = newId();
  expect(await agent.ask({ what: 'take', id, path: `${DOWNLOADS}/mine` })).toMatchObject({ ok: true });
  expect(await agent.ask({ what: 'restore', id })).toMatchObject({ ok: false });
  expect(state()).toBe(before);
});

// proves: attack-E.4-2
test('a settings file of ten megabytes, and one of a million lines, are not read', async () => {
  const settings = '/home/anna/.config/user-dirs.dirs';
  for (const made of [
    `yes 'XDG_DOWNLOAD_DIR="$HOME/x"' | head -c 10000000 > ${settings}`,
    `printf 'XDG_DOWNLOAD_DIR="' > ${settings}; head -c 10000000 /dev/zero | tr '\\0' a >> ${settings}; printf '"' >> ${settings}`,
    `printf 'XDG_DOWNLOAD_DIR="$HOME/../../etc"\\nXDG_DESKTOP_DIR="/proc/self/root"\\n' > ${settings}`,
  ]) {
    computer.shell(made, ANNA);
    const { folders } = await agent.ask({ what: 'folders' }, 10_000);
    expect(folders).toContain('/home/ben/Downloads');
    expect(JSON.stringify(folders)).not.toMatch(/etc|proc/u);
  }
  expect(agent.peak()).toBeLessThan(MEMORY_MAXIMUM);
});

test("a folder that is bound into itself and into another is read to its end, and a file's verdict holds for each of its places", async () => {
  computer.shell(
    `cd ${DOWNLOADS}; mkdir -p a/b a/in other; for n in 1 2 3; do echo $n > a/b/$n.txt; done; chown -R anna:anna a other
    mount --bind ${DOWNLOADS}/a ${DOWNLOADS}/a/in; mount --bind ${DOWNLOADS}/a ${DOWNLOADS}/other`,
  );
  // The three files have nine paths. Two paths of one file may be read at the same moment, so only their sum is certain.
  const { state, progress } = scanReportSchema.parse(await agent.ask({ what: 'scan', path: DOWNLOADS }, 60_000));
  expect({ state, pending: progress.files_pending, seen: progress.files_read + progress.files_known }).toEqual({
    state: 'done',
    pending: 0,
    seen: 9,
  });
  expect(progress.files_known).toBeGreaterThan(0);
});
