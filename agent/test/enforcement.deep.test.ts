import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, TOLD_BYTES_MAXIMUM } from '@palisade/contract/agent';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNamespace, endNamespace, endNamespaces, no_namespaces, temporaryFolder } from './namespace.ts';
import { createWorld, desiredOf, ID, pathWith, rule, SERVER, type World } from './world.ts';

// On a busy machine an nft or a knock takes a second where an idle one needs 20 ms: tests wait for conditions, and only a missing one takes the whole time.
vi.setConfig({ testTimeout: 180_000 });

needing('a kernel with nftables', no_namespaces === undefined).describe('an agent', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.close());
  afterAll(endNamespaces);

  // proves: device-trap-1, device-trap-2
  it('applies rules, confirms them once they have proved themselves, and counts their decisions', async () => {
    await world.listen(world.device, 8080, 8081);
    await world.startAgent();
    world.command({ desired: desiredOf(1, [rule(1, { port: '8081' })]) });
    await world.acked(1, 'applied');
    expect(world.acks(1)).toEqual(['trial', 'applied']);
    expect([world.knock(8080), world.knock(8081)]).toEqual(['open', 'silent']);
    await world.reported(({ counters, blocked }) => {
      expect(counters.find(({ of }) => of === ID(1))?.packets).toBeGreaterThan(0);
      expect(counters.find(({ of }) => of === 'inbound')?.packets).toBeGreaterThan(0);
      expect(blocked.length === 0 || blocked[0]?.port === 8081).toBe(true);
    });
    const blocked = world.said('report').flatMap((report) => report.blocked);
    expect(blocked[0]).toMatchObject({ direction: 'inbound', protocol: 'tcp', address: SERVER, port: 8081 });

    // Another edit: the counter of the remaining rule continues, and no rule is left over.
    const before = Number(/r_\w+0001.*?packets (\d+)/su.exec(world.nft('list', 'counters', 'table', 'inet', 'palisade'))?.[1]);
    world.command({ desired: desiredOf(2, [rule(1, { port: '8081' }), rule(2, { port: '8080' })]) });
    await world.acked(2, 'applied');
    expect(world.knock(8080)).toBe('silent');
    const after = Number(/r_\w+0001.*?packets (\d+)/su.exec(world.nft('list', 'counters', 'table', 'inet', 'palisade'))?.[1]);
    expect(after).toBe(before);
    world.command({ desired: desiredOf(3, []) });
    await world.acked(3, 'applied');
    expect([world.knock(8080), world.knock(8081)]).toEqual(['open', 'open']);
    expect(world.nft('-s', 'list', 'chain', 'inet', 'palisade', 'inbound')).not.toContain('r_');

    // A rule that is switched off and on again continues its count.
    const counterNow = () =>
      Number(/r_\w+0001.*?packets (\d+)/su.exec(world.nft('list', 'counters', 'table', 'inet', 'palisade'))?.[1]);
    expect(counterNow()).toBe(before);
    world.command({ desired: desiredOf(4, [rule(1, { port: '8081' })]) });
    await world.acked(4, 'applied');
    expect(world.knock(8081)).toBe('silent');
    expect(counterNow()).toBeGreaterThan(before);
    await world.reported(({ counters }) => expect(counters.find(({ of }) => of === ID(1))?.packets).toBe(counterNow()));
  });

  describe('counts each packet once', () => {
    /** Packets in the kernel's sets of who was dropped. */
    const inSets = () =>
      [...world.nft('list', 'sets', 'table', 'inet', 'palisade').matchAll(/counter packets (\d+)/gu)].reduce(
        (sum, [, packets]) => sum + Number(packets),
        0,
      );
    const ofRule = () =>
      Number(/r_\w+0001.*?packets (\d+)/su.exec(world.nft('list', 'counters', 'table', 'inet', 'palisade'))?.[1] ?? 0);
    /** Counts of a server that counts each part once, and of each epoch the highest. */
    function told() {
      const reports = world.said('report');
      const parts = new Map<string, Report['blocked']>();
      for (const [index, { blocked, blocked_part: part }] of reports.entries())
        parts.set(part === undefined ? `${index}` : `${part.log} ${part.number}`, blocked);
      const epochs = new Map<string, number>();
      for (const { epoch, counters } of reports) {
        const packets = counters.find(({ of }) => of === ID(1))?.packets ?? 0;
        epochs.set(epoch, Math.max(packets, epochs.get(epoch) ?? 0));
      }
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, one) => all + one, 0);
      return {
        dropped: sum([...parts.values()].flat().map(({ packets }) => packets)),
        counted: sum(epochs.values()),
      };
    }
    /** Waits until so much was reported, and two more reports do not change it. */
    async function tells(expected: { dropped: number; counted: number }): Promise<void> {
      await eventually(() => expect(told()).toEqual(expected));
      const reports = world.said('report').length;
      await eventually(() => expect(world.said('report').length).toBeGreaterThan(reports + 2));
      expect(told()).toEqual(expected);
    }
    async function begin() {
      const agent = await world.startAgent();
      world.command({ noting: true, desired: desiredOf(1, [rule(1, { port: '8081' })]) });
      await world.acked(1, 'applied');
      expect(world.knock(8081)).toBe('silent');
      await tells({ dropped: inSets(), counted: ofRule() });
      return agent;
    }

    it('over a restart of the agent, whether it was killed or asked to end', async () => {
      let agent = await begin();
      for (const how of ['SIGKILL', 'SIGTERM'] as const) {
        agent.child.kill(how);
        await eventually(() => expect(agent.child.exitCode ?? agent.child.signalCode).not.toBeNull());
        expect(world.knock(8081)).toBe('silent');
        agent = await world.startAgent();
        await tells({ dropped: inSets(), counted: ofRule() });
      }
    });

    it('over a start of the computer, whose rules are loaded before the agent', async () => {
      const agent = await begin();
      const before = { dropped: inSets(), counted: ofRule() };
      agent.child.kill('SIGTERM');
      await eventually(() => expect(agent.child.exitCode).not.toBeNull());
      world.nft('flush', 'ruleset');
      world.nft('-f', join(world.folders.state, 'boot.nft'));
      expect(world.knock(8081)).toBe('silent');
      const again = await world.startAgent();
      await tells({ dropped: before.dropped + inSets(), counted: before.counted + ofRule() });
      // And over the next restart: the table is the one that it was.
      again.child.kill('SIGKILL');
      await world.startAgent();
      await tells({ dropped: before.dropped + inSets(), counted: before.counted + ofRule() });
    });

    it('over a table that another program took away, and an edit that was rolled back', async () => {
      await begin();
      const before = { dropped: inSets(), counted: ofRule() };
      world.nft('flush', 'ruleset');
      await eventually(() => expect(world.nft('list', 'ruleset')).toContain('8081'));
      expect(world.knock(8081)).toBe('silent');
      world.command({ verifying: 'silent', desired: desiredOf(2, [rule(2, { port: '8082' })]) });
      await world.acked(2, 'rolled_back');
      expect(world.knock(8081)).toBe('silent');
      await tells({ dropped: before.dropped + inSets(), counted: before.counted + ofRule() });
    });

    it('while the server is away, and where it heard and its word was lost', async () => {
      let agent = await begin();
      const statusPath = join(world.folders.run, 'status.json');
      const reportsMade = async (count: number) => {
        for (let made = 0; made < count; made += 1) {
          const before = readFileSync(statusPath, 'utf8');
          await eventually(() => expect(readFileSync(statusPath, 'utf8')).not.toBe(before));
        }
      };
      world.command({ refusal: 1013 });
      await eventually(() => expect(agent.lines.some((line) => line.startsWith('unreachable'))).toBe(true));
      const from = Date.now();
      expect(world.knock(8081)).toBe('silent');
      await reportsMade(3);
      expect(world.knock(8081)).toBe('silent');
      await reportsMade(3);
      const until = Date.now();
      world.command({ refusal: null });
      await tells({ dropped: inSets(), counted: ofRule() });
      const late = world
        .said('report')
        .flatMap(({ blocked }) => blocked.filter(({ first_at }) => Date.parse(first_at ?? '') >= from));
      expect(late.length).toBeGreaterThan(0);
      expect(late.every(({ last_at }) => Date.parse(last_at ?? '') <= until)).toBe(true);

      // The agent has heard that all of it was noted: what comes now is a part of its own.
      await eventually(() => expect(world.said('report').at(-1)).not.toHaveProperty('blocked_part'));
      // Its word is lost: it hears the same again, of another start of the agent too.
      world.command({ noting: false });
      expect(world.knock(8081)).toBe('silent');
      await tells({ dropped: inSets(), counted: ofRule() });
      agent.child.kill('SIGKILL');
      expect(world.knock(8081)).toBe('silent');
      agent = await world.startAgent();
      world.command({ noting: true });
      await tells({ dropped: inSets(), counted: ofRule() });
    });
  });

  // proves: device-fault-2, device-hostile-server-1
  it('goes back where the server cannot be reached any more, says why, and does not try it again', async () => {
    await world.listen(world.device, 8080);
    // Long enough for a knock while it is on.
    const agent = await world.startAgent({ times: ['8000'] });
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.acked(1, 'applied');
    // The open socket continues; a fresh connection is not answered.
    world.command({ verifying: 'silent' });
    world.command({ desired: desiredOf(2, [rule(2, { port: '8080' })]) });
    await eventually(() => expect(world.acks(2)).toContain('trial'));
    expect(world.knock(8080)).toBe('silent');
    const ack = await world.acked(2, 'rolled_back');
    expect(ack.applied_rev).toBe(1);
    expect(ack.errors[0]?.message).toMatch(/server could not be reached: no answer in time\. Revision 1 is back\./u);
    expect(world.knock(8080)).toBe('open');
    expect(world.nft('list', 'table', 'inet', 'palisade')).toContain('7000');
    const trials = world.events().filter(({ event }) => event === 'verify').length;
    world.command({ desired: desiredOf(2, [rule(2, { port: '8080' })]) });
    await eventually(() => expect(world.acks(2).filter((state) => state === 'rolled_back')).toHaveLength(2));
    expect(world.events().filter(({ event }) => event === 'verify')).toHaveLength(trials);
    // Something that answers in the server's place is not the server.
    world.command({ verifying: 'wrong' });
    world.command({ desired: desiredOf(3, [rule(2, { port: '8080' })]) });
    const wrong = await world.acked(3, 'rolled_back');
    expect(wrong.errors[0]?.message).toContain('something else answers in its place');
    expect(agent.child.exitCode).toBeNull();
  });

  // proves: device-fault-14
  it('undoes at its start an unfinished trial, and loads the confirmed revision', async () => {
    await world.listen(world.device, 8080);
    const agent = await world.startAgent({ times: ['60000'] });
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.acked(1, 'applied');
    world.command({ verifying: 'silent' });
    world.command({ desired: desiredOf(2, [rule(2, { port: '8080' })]) });
    await eventually(() => expect(world.acks(2)).toContain('trial'));
    agent.child.kill('SIGKILL');
    expect(world.knock(8080)).toBe('silent');
    await world.startAgent();
    await world.acked(2, 'rolled_back');
    expect(world.knock(8080)).toBe('open');
    expect(world.nft('list', 'table', 'inet', 'palisade')).toContain('7000');

    // Before its network the computer loads the confirmed revision, into an empty kernel.
    const boot = join(world.folders.state, 'boot.nft');
    expect(statSync(boot).mode & 0o777).toBe(0o600);
    const fresh = createNamespace();
    fresh.run('nft', '-f', boot);
    expect(fresh.run('nft', 'list', 'table', 'inet', 'palisade')).toContain('7000');
    endNamespace(fresh);
  });

  // proves: device-fault-3, device-trap-7
  it('changes nothing when the kernel refuses a rule, and names the rule', async () => {
    const path = pathWith(
      'nft',
      'for last; do :; done\nif [ -p "$last" ]; then IFS=\\" read -r _ last _ < "$last"; set -- -f "$last"; fi\nif [ -f "$last" ] && grep -q "dport 6666" "$last"; then echo "x.nft:9:1-2: Error: Operation not supported" >&2; exit 1; fi\nexec /usr/sbin/nft "$@"',
    );
    await world.startAgent({ path });
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.acked(1, 'applied');
    const before = world.nft('-s', 'list', 'table', 'inet', 'palisade');
    const many = Array.from({ length: 40 }, (_, index) => rule(index + 10, { port: `${index === 23 ? 6666 : 7001 + index}` }));
    world.command({ desired: desiredOf(2, many) });
    const ack = await world.acked(2, 'rejected');
    expect(ack.errors).toEqual([{ rule_id: ID(33), message: 'Error: Operation not supported' }]);
    expect(ack.applied_rev).toBe(1);
    expect(world.nft('-s', 'list', 'table', 'inet', 'palisade')).toBe(before);
  });

  // proves: device-fault-4
  it('says that rules cannot be enforced where nft is missing, and never that they are', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'bin'));
    for (const name of ['sh', 'nice']) symlinkSync(`/bin/${name}`, join(folder, 'bin', name));
    await world.startAgent({ path: join(folder, 'bin') });
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    const ack = await world.acked(1, 'unavailable');
    expect(ack).toMatchObject({ applied_rev: 0, errors: [{ message: 'The program nft is missing (package nftables).' }] });
    expect(world.events().find(({ event }) => event === 'hello')).toMatchObject({
      hello: { capabilities: { firewall: 'unavailable' } },
    });
  });

  // proves: device-fault-5
  it('says that rules cannot be enforced where it may not change the firewall, and changes nothing', async () => {
    const path = pathWith('nft', 'exec setpriv --bounding-set=-net_admin --inh-caps=-net_admin /usr/sbin/nft "$@"');
    await world.startAgent({ path });
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    const ack = await world.acked(1, 'unavailable');
    expect(ack).toMatchObject({
      applied_rev: 0,
      errors: [{ message: 'The agent may not change the firewall (CAP_NET_ADMIN).' }],
    });
    expect(world.nft('list', 'tables').trim()).toBe('');
  });

  // proves: device-fault-6, device-trap-9
  it('puts its table back when another program takes it away, tells it, and waits when that repeats', async () => {
    await world.listen(world.device, 8080);
    await world.startAgent();
    world.command({ desired: desiredOf(1, [rule(1, { port: '8080' })]) });
    await world.acked(1, 'applied');
    const isBack = () => expect(world.nft('list', 'ruleset')).toContain('8080');
    for (let time = 1; time <= 3; time += 1) {
      await eventually(isBack);
      world.nft('flush', 'ruleset');
      await eventually(() => expect(world.said('event').filter(({ event }) => event.event === 'tampered')).toHaveLength(time));
    }
    await eventually(isBack);
    expect(world.knock(8080)).toBe('silent');
    // Small changes too.
    world.nft('insert', 'rule', 'inet', 'palisade', 'inbound', 'accept');
    await eventually(() => expect(world.said('event').at(-1)?.event).toEqual({ event: 'tampered', backed_off: true }));
    expect(world.nft('list', 'chain', 'inet', 'palisade', 'inbound')).toMatch(/priority[^\n]*\n\s*accept/u);
  });

  // proves: device-fault-11, device-trap-10
  it('removes its own table once the server has answered for a while that it is revoked, and for no other reason', async () => {
    world.nft('add', 'table', 'inet', 'someone_else');
    const agent = await world.startAgent();
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.acked(1, 'applied');
    const asked = (verifying: string) =>
      world.events().filter((event) => event['event'] === 'verify' && event['verifying'] === verifying).length;
    // Errors are no answer, however often they come.
    world.command({ verifying: 'error', refusal: 4410 });
    await eventually(() => expect(asked('error')).toBeGreaterThan(2));
    expect(world.nft('list', 'tables')).toContain('inet palisade');
    world.command({ verifying: 'revoked' });
    await eventually(() => expect(agent.lines).toContain('ended: revoked'));
    expect(asked('revoked')).toBeGreaterThan(1);
    expect(world.nft('list', 'tables').trim()).toBe('table inet someone_else');
  });

  // proves: device-fault-12, device-fault-13, device-hostile-server-2, device-trap-6
  it('refuses older, altered, too large and invalid revisions', async () => {
    await world.startAgent();
    world.command({ desired: desiredOf(5, [rule(1, { port: '7000' })]) });
    await world.acked(5, 'applied');
    const before = world.nft('-s', 'list', 'table', 'inet', 'palisade');
    world.command({ desired: desiredOf(4, []) });
    expect((await world.acked(4, 'rejected')).errors[0]?.message).toBe(
      'Revision 4 is older than revision 5, which this device has.',
    );
    world.command({ desired: desiredOf(6, [], { hash: '0'.repeat(64) }) });
    expect((await world.acked(6, 'rejected')).errors[0]?.message).toContain('hash');
    const hellos = () => world.events().filter(({ event }) => event === 'hello').length;
    const hostile = [
      desiredOf(7, [rule(1)]),
      { ...desiredOf(8, []), rules: Array.from({ length: 1_001 }, (_, index) => rule(index)) },
    ];
    const evil = JSON.stringify(hostile[0]).replace('"0.0.0.0"', '"10.0.0.1; flush ruleset"');
    const typed = JSON.stringify({ ...hostile[0], rules: [rule(1, { source_ip: '10.0.0.1; flush ruleset' })] });
    for (const raw of [evil, typed, JSON.stringify(hostile[1]), 'no json']) {
      const seen = hellos();
      world.command({ raw });
      await eventually(() => expect(hellos()).toBeGreaterThan(seen));
    }
    const seen = hellos();
    world.command({ raw: 'x'.repeat(1024), times: TOLD_BYTES_MAXIMUM / 1024 + 1 });
    await eventually(() => expect(hellos()).toBeGreaterThan(seen));
    expect(world.nft('-s', 'list', 'table', 'inet', 'palisade')).toBe(before);
  });

  // proves: device-fault-10
  it('leaves the place to the agent that has it, and keeps its rules', async () => {
    const agent = await world.startAgent();
    world.command({ desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.acked(1, 'applied');
    world.command({ refusal: 4409 });
    await eventually(() => expect(agent.lines).toContain('in_use: another agent with this identity is connected'));
    expect(world.nft('list', 'tables')).toContain('inet palisade');
    expect(agent.child.exitCode).toBeNull();
  });

  // proves: device-fault-7
  it('drops a temporary rule by the clock of the server', async () => {
    await world.listen(world.device, 8080);
    world.command({ clock_ms: 2 * 60 * 60_000 });
    await world.startAgent();
    await eventually(() => expect(existsSync(join(world.folders.run, 'status.json'))).toBe(true));
    const expires_at = new Date(Date.now() + 2 * 60 * 60_000 + 4_000).toISOString();
    world.command({ desired: desiredOf(1, [rule(1, { port: '8080', expires_at })]) });
    await world.acked(1, 'applied');
    expect(world.knock(8080)).toBe('silent');
    await eventually(() => expect(world.knock(8080)).toBe('open'));
  });

  // proves: device-trap-5, device-trap-10
  it('judges a published port by the number that is connected to', async () => {
    await world.listen(world.device, 8080);
    world.nft('add', 'table', 'ip', 'published');
    world.nft('add', 'chain', 'ip', 'published', 'prerouting', '{ type nat hook prerouting priority dstnat; }');
    world.nft('add', 'rule', 'ip', 'published', 'prerouting', 'tcp', 'dport', '8888', 'redirect', 'to', ':8080');
    await world.startAgent();
    expect(world.knock(8888)).toBe('open');
    world.command({ desired: desiredOf(1, [rule(1, { port: '8888' })]) });
    await world.acked(1, 'applied');
    expect([world.knock(8888), world.knock(8080)]).toEqual(['silent', 'open']);
    await world.reported(({ foreign_tables }) =>
      expect(foreign_tables).toEqual([{ family: 'ip', name: 'published', drops: false }]),
    );
  });

  it('goes by HTTP where no WebSocket passes', async () => {
    world.command({ no_sockets: true, desired: desiredOf(1, [rule(1, { port: '7000' })]) });
    await world.startAgent();
    await eventually(() => expect(world.acks(1)).toContain('applied'));
    expect(world.events().some(({ by }) => by === 'poll')).toBe(true);
    expect(world.nft('list', 'table', 'inet', 'palisade')).toContain('7000');
  });

  it('keeps its token where only its owner can read it', () => {
    const path = join(world.folders.state, 'identity.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain('a'.repeat(64));
  });
});
