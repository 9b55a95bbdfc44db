import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { endNamespaces, no_namespaces } from './namespace.ts';
import { createWorld, DEVICE, desiredOf, rule, SERVER, type World } from './world.ts';

const BLOCKED_IN = { defaults: { inbound: 'block', outbound: 'allow' } } as const;

needing('a kernel with nftables', no_namespaces === undefined).describe('an agent whose rules change', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.close());
  afterAll(endNamespaces);

  // proves: device-trap-3, device-trap-4
  it('keeps open connections at its first load, and cuts those that a new block forbids', async () => {
    await world.listen(world.device, 8080, 8081);
    await world.listen(world.server, 9000);
    // One that says something while rules are loaded, one that stays silent, one that this computer opened.
    const inbound = await world.talk(world.server, DEVICE, 8080);
    const silent = await world.talk(world.server, DEVICE, 8081);
    const outbound = await world.talk(world.device, SERVER, 9000);
    await world.startAgent();
    const allows = [rule(1, { action: 'allow', port: '8080-8081' })];
    world.command({ desired: desiredOf(1, allows, BLOCKED_IN) });
    await world.acked(1, 'applied');
    for (const speaker of [inbound, silent, outbound]) {
      speaker.say('still there?');
      expect(await speaker.next()).toBe('echo');
    }
    // More than fits into one segment: the kernel's assumed windows of a connection that it did not see begin must not end it.
    for (const speaker of [outbound, inbound]) {
      speaker.say('bulk 3000000');
      expect(await speaker.next()).toBe('echo');
    }
    world.command({ desired: desiredOf(2, [...allows, rule(2, { port: '8080' })], BLOCKED_IN) });
    await world.acked(2, 'applied');
    for (const [speaker, word] of [
      [inbound, 'silent'],
      [silent, 'echo'],
      [outbound, 'echo'],
    ] as const) {
      speaker.say('and now?');
      expect(await speaker.next()).toBe(word);
    }
    expect(world.knock(8082)).toBe('silent');
  });

  it("keeps an open connection that the kernel has picked up from the other side's packets, and cuts it by its real direction", async () => {
    await world.listen(world.server, 9000, 9001);
    const first = await world.startAgent();
    const speakers = [await world.talk(world.device, SERVER, 9000), await world.talk(world.device, SERVER, 9001)];
    // As a packet that comes in while the kernel tracks for a moment, for a check of rules: it stands in the table as one that the server has opened.
    const opened = [...world.device.run('ss', '-tnH').matchAll(/:(\d+)\s+\S+:(\d+)\s*$/gmu)];
    expect(opened).toHaveLength(3);
    for (const [, here = '', there = ''] of opened) {
      const ends = ['-s', SERVER, '-d', DEVICE, '--sport', there, '--dport', here];
      world.device.run('conntrack', '-I', '-p', 'tcp', '--state', 'ESTABLISHED', '-t', '300', ...ends);
    }
    world.command({ desired: desiredOf(1, [], BLOCKED_IN) });
    await world.acked(1, 'applied');
    const answers = async (word: string) => {
      for (const speaker of speakers) {
        speaker.say(word);
        expect(await speaker.next()).toBe('echo');
      }
    };
    await answers('still there?');
    await answers('bulk 3000000');
    // An agent that begins anew, and a table that was away for a while.
    first.child.kill('SIGKILL');
    await eventually(() => expect(first.child.signalCode).not.toBeNull());
    await world.startAgent();
    await answers('and now?');
    world.nft('delete', 'table', 'inet', 'palisade');
    await answers('and without rules?');
    await eventually(() => expect(world.nft('list', 'ruleset')).toContain('older4'));
    await answers('bulk 3000000');

    world.command({ desired: desiredOf(2, [rule(1, { direction: 'outbound', port: '9001' })], BLOCKED_IN) });
    await world.acked(2, 'applied');
    const [kept, ended] = speakers;
    for (const speaker of speakers) speaker.say('which?');
    expect([await kept?.next(), await ended?.next()]).toEqual(['echo', 'silent']);
  });
});
