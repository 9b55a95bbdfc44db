import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '#agent/ids.ts';
import { type AgentUnderTest, ANNA, bundleAgentForAttacks, type Computer, createComputer, not_confined } from './confined.ts';
import { seededNumbers } from './kernel-fuzz.ts';

// Attacks of a person without rights on the agent's own code, which runs with the capabilities of its unit in namespaces of the test.

vi.setConfig({ testTimeout: 400_000, hookTimeout: 180_000 });

/** The time that each race takes; `ATTACK_SECONDS` asks for more. ms. */
const ATTACK_MS = 1_000 * z.coerce.number().int().positive().default(12).parse(process.env['ATTACK_SECONDS']);
/** On a busy machine the agent may take nothing for as long as a race takes. ms. */
const TAKEN_WITHIN_MS = 120_000;
/** Changes that the attacker of the race makes at least. */
const CHANGES = 10_000;
const MEMORY_MAXIMUM = 150 * 1024 ** 2;
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join('');
const DOWNLOADS = '/home/anna/Downloads';

beforeAll(() => {
  if (not_confined === undefined) bundleAgentForAttacks();
});
const containing = (text: string): unknown => expect.stringContaining(text);

let computer: Computer;
let agent: AgentUnderTest;
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

/** All paths that are not anna's, with their content and owner. */
const outside = () =>
  computer.shell(
    "find /etc /home/ben /tmp -printf '%p %y %m %U %G %s %T@ %i %l\\n' | sort; find /etc /home/ben /tmp -type f -exec sha256sum {} + | sort",
  );

/** Stops the attacker while `call` runs. */
async function unattacked<T>(attacker: ChildProcess, call: () => Promise<T>): Promise<T> {
  attacker.kill('SIGSTOP');
  try {
    return await call();
  } finally {
    attacker.kill('SIGCONT');
  }
}

/**
 * Takes and restores a file as often as it goes for so long, and at least once, and returns the number of files taken. `put` makes it anew where it is not there. Where the
 * attacker wins the race of taking, the file is taken without it, so that each turn has a restore to attack.
 */
async function takeAndRestore(attacker: ChildProcess, path: string, put: () => void): Promise<number> {
  const until = Date.now() + ATTACK_MS;
  let taken = 0;
  do {
    const id = newId();
    const take = () => {
      put();
      return agent.ask({ what: 'take', id, path });
    };
    if ((await take())['ok'] !== true && (await unattacked(attacker, take))['ok'] !== true) continue;
    taken += 1;
    await agent.ask({ what: 'restore', id });
  } while (Date.now() < until || (taken === 0 && Date.now() < until + TAKEN_WITHIN_MS));
  return taken;
}

describe('a person without rights', () => {
  // proves: attack-E.1-1
  test('has nothing restored through a link in place of a folder', async () => {
    computer.shell(`mkdir ${DOWNLOADS}/d; echo evil > ${DOWNLOADS}/d/evil.sh; mkdir -p /etc/profile.d`, 0);
    computer.shell(`chown -R 1000:1000 ${DOWNLOADS}`);
    const before = outside();
    const id = newId();
    expect(await agent.ask({ what: 'take', id, path: `${DOWNLOADS}/d/evil.sh` })).toMatchObject({ ok: true });
    computer.shell(`mv ${DOWNLOADS}/d ${DOWNLOADS}/e && ln -s /etc/profile.d ${DOWNLOADS}/d`, ANNA);
    expect(await agent.ask({ what: 'restore', id })).toMatchObject({ ok: false, reason: containing('link') });
    expect(outside()).toBe(before);
    computer.shell(`rm ${DOWNLOADS}/d && mv ${DOWNLOADS}/e ${DOWNLOADS}/d`, ANNA);
    expect(await agent.ask({ what: 'restore', id })).toMatchObject({ ok: true });
    expect(computer.shell(`stat -c '%u %g' ${DOWNLOADS}/d/evil.sh; cat ${DOWNLOADS}/d/evil.sh`)).toBe('1000 1000\nevil\n');

    const attacker = computer.attack(['swap', `${DOWNLOADS}/d`, '/etc/profile.d']);
    const put = () => {
      const made = `for place in ${DOWNLOADS}/d ${DOWNLOADS}/d.other; do [ -L $place ] || echo evil > $place/evil.sh; done`;
      computer.shell(`${made} 2>/dev/null || true`, ANNA);
    };
    expect(await takeAndRestore(attacker, `${DOWNLOADS}/d/evil.sh`, put)).toBeGreaterThan(0);
    expect(outside()).toBe(before);
  });

  // proves: attack-E.2-1
  test('gets owner and mode of no other file changed while a file is restored', async () => {
    const path = `${DOWNLOADS}/d/large`;
    computer.shell(`mkdir ${DOWNLOADS}/d; echo secret > /etc/shadow; chmod 600 /etc/shadow; chown 1000:1000 ${DOWNLOADS}/d`);
    const before = outside();
    const attacker = computer.attack(['replace', `${DOWNLOADS}/d`, '/etc/shadow']);
    const put = () => computer.shell(`[ -f ${path} ] || { head -c 30000000 /dev/urandom > ${path}; chmod 666 ${path}; }`, ANNA);
    expect(await takeAndRestore(attacker, path, put)).toBeGreaterThan(0);
    expect(outside()).toBe(before);
  });

  // proves: attack-E.3-1
  test('gets no file of root removed by exchanging folders while a file is taken away', async () => {
    const path = `${DOWNLOADS}/d/n.sh`;
    computer.shell(`mkdir ${DOWNLOADS}/d /etc/chosen; echo keep > /etc/chosen/n.sh; chown 1000:1000 ${DOWNLOADS}/d`);
    const before = outside();
    computer.attack(['swap', `${DOWNLOADS}/d`, '/etc/chosen']);
    const put = () => {
      const made = `for place in ${DOWNLOADS}/d ${DOWNLOADS}/d.other; do [ -L $place ] || echo evil > $place/n.sh; done`;
      computer.shell(`${made} 2>/dev/null || true`, ANNA);
    };
    const until = Date.now() + ATTACK_MS;
    let taken = 0;
    while (Date.now() < until || (taken === 0 && Date.now() < until + TAKEN_WITHIN_MS)) {
      put();
      const answers = await Promise.all(Array.from({ length: 4 }, () => agent.ask({ what: 'take', id: newId(), path })));
      taken += answers.filter(({ ok }) => ok === true).length;
    }
    expect(taken).toBeGreaterThan(0);
    expect(outside()).toBe(before);
  });

  // proves: attack-E.4-1
  test('switches nothing off with a pipe, and fills no memory with an endless file', async () => {
    const settings = '/home/anna/.config/user-dirs.dirs';
    computer.shell(`mkfifo ${settings}; mkdir -p /home/anna/.ssh; mkfifo /home/anna/.ssh/authorized_keys`, ANNA);
    const began = Date.now();
    // More than the threads that Node has.
    for (let turn = 0; turn < 6; turn += 1)
      expect((await agent.ask({ what: 'folders' }, 10_000))['folders']).toContain('/home/ben/Downloads');
    computer.shell(`rm ${settings}; ln -s /dev/zero ${settings}; ln -s /dev/zero /home/anna/.bashrc`, ANNA);
    const loop = `while :; do rm -f ${settings}; mkfifo ${settings}; rm -f ${settings}; ln -s /dev/zero ${settings}; rm -f ${settings}; truncate -s 2G ${settings}; done`;
    computer.start(loop, ANNA);
    while (Date.now() - began < ATTACK_MS) {
      await agent.ask({ what: 'folders' }, 10_000);
      await agent.ask({ what: 'stock' }, 10_000);
    }
    computer.shell(`echo evil > /home/ben/Downloads/x`, 1_001);
    expect(await agent.ask({ what: 'take', id: newId(), path: '/home/ben/Downloads/x' }, 10_000)).toMatchObject({ ok: true });
    expect(agent.peak()).toBeLessThan(MEMORY_MAXIMUM);
    expect(await agent.stop()).toBeLessThan(5_000);
  });

  // proves: attack-E.7-2
  test('hides nothing with a name that is not UTF-8', async () => {
    const name = `${DOWNLOADS}/n\xff.sh`;
    const text = Buffer.from(EICAR).toString('base64');
    computer.shell(`echo ${text} | base64 -d > "$(printf '${DOWNLOADS}/n\\377.sh')"`, ANNA);
    const report = await agent.ask({ what: 'scan', path: DOWNLOADS }, 120_000);
    const found = [{ path: `${DOWNLOADS}/n\\xff.sh`, outcome: 'quarantined' }];
    expect(report).toMatchObject({ state: 'done', progress: { files_read: 1, files_pending: 0 } });
    const all: unknown = (await agent.ask({ what: 'hello' }))['found'];
    expect(all).toMatchObject(found);
    const id = newId();
    computer.shell(`echo evil > "$(printf '${DOWNLOADS}/n\\377.sh')"`, ANNA);
    expect(await agent.ask({ what: 'take', id, path: name })).toMatchObject({ ok: true });
    expect(await agent.ask({ what: 'restore', id })).toMatchObject({ ok: true });
    expect(computer.shell(`cat "$(printf '${DOWNLOADS}/n\\377.sh')"`)).toBe('evil\n');

    expect(agent.peak()).toBeLessThan(MEMORY_MAXIMUM);
  });

  test('has files taken away and given back by all of their groups, and by no right of root', async () => {
    computer.shell(
      `mkdir /home/shared /home/roots; chgrp friends /home/shared; chmod 770 /home/shared
      for place in shared roots; do echo evil > /home/$place/f.sh; chown anna:friends /home/$place/f.sh; chmod 4754 /home/$place/f.sh; done
      echo evil > ${DOWNLOADS}/roots.sh; chmod 600 ${DOWNLOADS}/roots.sh`,
    );
    const state = (path: string) => computer.shell(`stat -c '%U %G %a' ${path}`).trim();
    const [shared, alone, roots] = [newId(), newId(), newId()];
    // By anna, whose further group may write there. Set-user-id is not given back.
    expect(await agent.ask({ what: 'take', id: shared, path: '/home/shared/f.sh' })).toMatchObject({ ok: true });
    expect(await agent.ask({ what: 'restore', id: shared })).toMatchObject({ ok: true });
    expect(state('/home/shared/f.sh')).toBe('anna friends 754');
    // By root in a folder of root's alone; anna may not write there, so that it is not put back.
    expect(await agent.ask({ what: 'take', id: alone, path: '/home/roots/f.sh' })).toMatchObject({ ok: true });
    expect(await agent.ask({ what: 'restore', id: alone })).toMatchObject({
      ok: false,
      reason: containing('may not write'),
    });
    expect(computer.shell('ls -A /home/roots')).toBe('');
    // Root's file in anna's folder: taken away with her rights, and not put where she could exchange it.
    expect(await agent.ask({ what: 'take', id: roots, path: `${DOWNLOADS}/roots.sh` })).toMatchObject({ ok: true });
    expect(await agent.ask({ what: 'restore', id: roots })).toMatchObject({
      ok: false,
      reason: containing('belongs to root'),
    });
    expect(computer.shell(`ls -A ${DOWNLOADS}`)).toBe('');
  });

  // proves: attack-E.3-1
  test('does nothing outside of the own files in a race of random changes with everything that the agent does', async () => {
    computer.shell(
      `mkdir -m 755 /etc/chosen /tmp/kept; echo keep > /etc/chosen/f.sh; echo keep > /tmp/kept/g.sh; echo keep > /tmp/g.sh
      echo of ben > /home/ben/Downloads/f.sh; chmod 644 /home/ben/Downloads/f.sh; chown 1001:1001 /home/ben/Downloads/f.sh
      mkdir -p ${DOWNLOADS}/d ${DOWNLOADS}/bound; chown 1000:1000 ${DOWNLOADS}/d ${DOWNLOADS}/bound`,
    );
    const before = outside();
    const seed = 30;
    let changes = 0;
    const targets = [
      '/etc/chosen',
      '/etc/shadow',
      '/dev/zero',
      '/home/ben/Downloads',
      '/home/ben/Downloads/f.sh',
      '/tmp/g.sh',
      '..',
    ];
    computer.attack(['everything', '/home/anna', `${seed}`, ...targets], (line) => (changes = Number(line)));
    // A mount of an administrator's, which comes and goes.
    computer.start(
      `while :; do mount --bind /etc/chosen ${DOWNLOADS}/bound; sleep 0.05; umount ${DOWNLOADS}/bound 2>/dev/null; done`,
    );
    await agent.ask({ what: 'watch', path: DOWNLOADS });
    const chosen = seededNumbers(seed);
    const names = ['a', 'b', 'c', 'n\xff', 'x'.repeat(250), 'f.sh', 'g.sh', 'bound/f.sh', 'user-dirs.dirs'];
    const folders = [DOWNLOADS, `${DOWNLOADS}/d`, `${DOWNLOADS}/a`, `${DOWNLOADS}/bound`, '/home/anna/.config'];
    const one = (list: readonly string[]) => list[Math.floor(chosen() * list.length)] ?? '';
    const count = { taken: 0, restored: 0, refused: 0, looked: 0 };
    const ids: string[] = [];
    const reasons = new Map<string, number>();
    const until = Date.now() + ATTACK_MS;
    // A race in which nothing was ever taken and put back would show nothing.
    while (Date.now() < until || changes < CHANGES || count.restored === 0) {
      const turn = async () => {
        const kind = chosen();
        if (kind < 0.1) {
          await agent.ask({ what: chosen() < 0.5 ? 'folders' : 'stock' });
          count.looked += 1;
          return;
        }
        const restored = kind < 0.55 ? ids.shift() : undefined;
        const id = newId();
        const path = `${one(folders)}/${chosen() < 0.8 ? '*' : one(names)}`;
        const question = restored === undefined ? { what: 'take', id, path } : { what: 'restore', id: restored };
        const { ok, reason, error } = await agent.ask(question);
        if (ok !== true) reasons.set(String(reason ?? error), (reasons.get(String(reason ?? error)) ?? 0) + 1);
        if (ok === true && restored === undefined) ids.push(id);
        count[ok !== true ? 'refused' : restored === undefined ? 'taken' : 'restored'] += 1;
      };
      await Promise.all([turn(), turn(), turn()]);
      expect(Date.now() - until, `${changes} changes, ${JSON.stringify(count)}`).toBeLessThan(300_000);
    }
    process.stdout.write(
      `race: ${changes} changes, ${JSON.stringify(count)}, peak ${Math.round(agent.peak() / 1024 ** 2)} MB, refused: ${JSON.stringify([...reasons])}\n`,
    );
    expect(outside()).toBe(before);
    // No file of another person is in the home, and no file has rights that its owner could not give.
    expect(computer.shell("find /home/anna -xdev ! -user anna ! -path '*/bound' -printf '%p %u\\n'")).toBe('');
    expect(agent.peak()).toBeLessThan(MEMORY_MAXIMUM);
    expect(await agent.stop()).toBeLessThan(5_000);
  });
});
