import { once } from 'node:events';
import type { Desired } from '@palisade/contract/agent';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createLink } from './link.ts';
import { createResolver } from './resolver.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const rule = (port: number) => ({
  ...{ id: ID, direction: 'inbound', action: 'block', protocol: 'tcp', source_ip: '*', destination_ip: '*', port: `${port}` },
  expires_at: null,
});
/** Longer than what is checked each time. */
const desired = (port: number, parts = {}) =>
  JSON.stringify({
    ...{ kind: 'desired', rev: 1, hash: '0'.repeat(64), defaults: { inbound: 'allow', outbound: 'allow' } },
    ...{ rules: Array.from({ length: 30 }, () => rule(port)), block_list: [], scan_jobs: [], file_orders: [], exclusions: [] },
    ...{ watched: [], is_watching: false, signatures: null },
    ...parts,
  });

it('checks a state once that is told again as it was, and anew what is another one', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const peers: WebSocket[] = [];
  server.on('connection', (peer) => {
    peers.push(peer);
    peer.once('message', () =>
      peer.send(JSON.stringify({ kind: 'welcome', at: new Date().toISOString(), heartbeat_ms: 20_000 })),
    );
  });
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`);
  const heard: Desired[] = [];
  const reasons: string[] = [];
  const link = createLink({
    ...{ server: url, resolver: createResolver(url), onNoted() {}, onSkew() {}, onConnected() {} },
    hello: () => ({
      ...{ kind: 'hello', device_id: ID, token: 'a'.repeat(64), instance: 'b'.repeat(32), agent_version: '1', applied_rev: 0 },
      ...{ ruleset_hash: null, at: new Date().toISOString() },
      capabilities: {
        ...{ firewall: 'unavailable', firewall_reason: null, conntrack: false, scanner: false, scanner_reason: null },
        ...{
          watch: false,
          control: false,
          control_reason: null,
          second_look: false,
          second_look_reason: null,
          containers: false,
        },
      },
    }),
    onDesired: (told) => heard.push(told),
    onState: (_state, reason) => reasons.push(reason),
    askRevoked: () => Promise.resolve(undefined),
    wait: () => Promise.resolve(),
  });
  const running = link.run();
  onTestFinished(async () => {
    link.stop();
    await running;
    server.close();
  });
  const connected = (times: number) => vi.waitFor(() => expect(peers).toHaveLength(times));
  const tell = async (text: string) => {
    const before = heard.length;
    peers.at(-1)?.send(text);
    await vi.waitFor(() => expect(heard).toHaveLength(before + 1));
    return heard.at(-1);
  };
  await connected(1);
  const first = await tell(desired(80));
  expect(first?.rules).toHaveLength(30);
  peers[0]?.close();
  await connected(2);
  // The same object, so that nobody need look at it as at something new.
  expect(await tell(desired(80))).toBe(first);
  const second = await tell(desired(81));
  expect(second).not.toBe(first);
  expect(second?.rules[0]?.port).toBe('81');
  expect((await tell(desired(80)))?.rules[0]?.port).toBe('80');
  // What is refused is refused each time.
  for (const time of [3, 4]) {
    peers
      .at(-1)
      ?.send(desired(80, { rules: Array.from({ length: 30 }, () => ({ ...rule(80), source_ip: 'x; flush ruleset' })) }));
    await connected(time);
  }
  expect(heard).toHaveLength(4);
  expect(reasons).toContain('the server said something that this agent does not understand');
});
