import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, expect, it } from 'vitest';
import { endNamespaces, no_namespaces } from './namespace.ts';
import { createWorld, desiredOf, ID } from './world.ts';

const SESSION = ID(77);

needing('a kernel with nftables', no_namespaces === undefined).describe('an agent during a remote session', () => {
  afterAll(endNamespaces);

  it('takes stock when it begins, also over a restart, and says once what listens and what filters since', async () => {
    const world = await createWorld();
    const kept = join(world.folders.state, 'remote-sessions.json');
    const agent = await world.startAgent();
    world.command({ desired: desiredOf(1, [], { remote_sessions: [{ id: SESSION, wanted: 'stock' }] }) });
    await eventually(() => expect(existsSync(kept)).toBe(true));

    await world.listen(world.device, 4444);
    world.nft('add', 'table', 'inet', 'of_somebody');
    agent.child.kill('SIGKILL');
    await world.startAgent();
    world.command({ desired: desiredOf(1, [], { remote_sessions: [{ id: SESSION, wanted: 'changes' }] }) });
    const found = () =>
      world
        .said('event')
        .flatMap(({ event }) => (event.event === 'session_changes' ? [{ ...event, changes: event.measured.changes }] : []));
    await eventually(() => expect(found()).not.toEqual([]));
    const [first] = found();
    expect(first?.session_id).toBe(SESSION);
    expect(first?.measured.from).not.toBeNull();
    const listening = first?.changes.filter(({ thing }) => thing === 'listening') ?? [];
    expect(listening.map(({ how, name }) => `${how} ${name}`)).toContainEqual(expect.stringMatching(/^added port 4444 \(TCP\)/u));
    expect(first?.changes).toContainEqual({ thing: 'firewall', how: 'added', name: 'inet of_somebody' });
    // No earlier entry, and not our own table.
    expect(first?.changes.filter(({ thing }) => thing === 'account' || thing === 'ssh_key')).toEqual([]);
    expect(JSON.stringify(first?.changes)).not.toContain('inet palisade');

    // Confirmed: it is neither reported nor kept any more.
    const events = world.said('event').map(({ id }) => id);
    world.command({ told: { kind: 'noted', seq: null, events } });
    world.command({ desired: desiredOf(1, []) });
    await eventually(() => expect(existsSync(kept)).toBe(false));
    world.close();
  });
});
