import { AGENT_CLOSED } from '@palisade/contract/agent';
import { countRules, listBlocked, listDevices, revokeDevice } from '@palisade/contract/devices';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished, test } from 'vitest';
import { AgentDouble, enrol, reportOf } from '#test/agent-double.ts';
import { freePort } from '#test/free-port.ts';
import { replyOf, sharedDatabase, startListeningApp } from '#test/harness.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';

/** Two servers on one database, and a device. */
async function startTwo(agent_heartbeat_ms: number, environment: Record<string, string> = {}) {
  const surroundings = { database: await sharedDatabase(), shares_database: true, agent_heartbeat_ms } as const;
  const one = await startListeningApp({ surroundings, environment });
  const two = await startListeningApp({ surroundings, environment });
  const { token } = await one.signIn();
  return { one, two, token, identity: await enrol(one, token) };
}

test('two servers on one database: one has the agent’s socket, the other its person', async () => {
  const { one, two, token, identity } = await startTwo(300);
  const agent = await AgentDouble.connect(one.url, identity);
  // A clone that connects to the other server ends no connection.
  const clone = new AgentDouble(two.url);
  await clone.hello(identity);
  expect(await clone.ending()).toBe(AGENT_CLOSED.in_use);
  expect(replyOf(await two.call(listDevices, { token }))).toMatchObject([{ state: 'online' }]);
  replyOf(await two.call(revokeDevice, { token, params: { id: identity.device_id } }));
  // These servers share no topics: it is found at a heartbeat.
  expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
});

test('two servers that hear the same report at once count it once', async () => {
  const { one, two, token, identity } = await startTwo(20_000);
  const instance = 'f'.repeat(32);
  const agents = [
    await AgentDouble.connect(one.url, identity, { instance }),
    await AgentDouble.connect(two.url, identity, { instance }),
  ];
  const blocked = [{ direction: 'inbound' as const, protocol: 'tcp' as const, address: '203.0.113.7', port: 443, packets: 3 }];
  const counters = [{ of: 'inbound' as const, packets: 9, bytes: 90 }];
  for (let seq = 1; seq <= 10; seq += 1)
    await Promise.all(
      agents.map((agent) =>
        agent.report(reportOf({ seq, blocked, counters, blocked_part: { log: 'a'.repeat(32), number: seq } })),
      ),
    );
  expect(replyOf(await one.call(listBlocked, { token }))).toMatchObject({ packets: 30, packets_total: 30 });
  expect(replyOf(await two.call(countRules, { token }))).toMatchObject([{ packets: 9 }]);
});

if (REDIS_SERVER === undefined) process.stdout.write('skipped: revocation over two servers at once needs a redis-server\n');
needing('Redis', REDIS_SERVER !== undefined).test(
  'a device that is revoked on one server loses its socket on the other at once',
  async () => {
    const redis = await startRedis(await freePort());
    onTestFinished(() => redis.stop());
    // No heartbeat comes while this test runs: it can be found by what Redis carries alone.
    const { one, two, token, identity } = await startTwo(600_000, { REDIS_URL: redis.url });
    const agent = await AgentDouble.connect(one.url, identity);
    replyOf(await two.call(revokeDevice, { token, params: { id: identity.device_id } }));
    expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
  },
);
