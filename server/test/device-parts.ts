import type { Hello, Said, SecondLook } from '@palisade/contract/agent';
import type { Scan } from '@palisade/contract/antivirus';
import type { DeviceFinding } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import { type AgentPrincipal, createAgents } from '#features/devices/agents.ts';
import type { DeviceIncident } from '#features/devices/device-alerts.ts';
import type { FoundOnDevice } from '#features/devices/device-files.ts';
import { type DeviceRow, keyFingerprint } from '#features/devices/device-record.ts';
import { createDevices } from '#features/devices/devices.ts';
import { createEnrolment } from '#features/devices/enrolment.ts';
import { createMeasuredSessions } from '#features/devices/measured-sessions.ts';
import { createSecondLooks } from '#features/devices/second-looks.ts';
import { createMemoryCounters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { type AgentIdentity, computer, helloOf } from './agent-double.ts';
import { addPerson, featureAudit, featureDatabase, heldJobs, ORIGIN } from './feature-database.ts';

/**
 * The devices feature on a database of its own, without the application. Rules, the plan's limit, alerts and scans are values of the test; time stands still until the
 * test moves it.
 */
export async function openDevices({ findings_kept }: { findings_kept?: number } = {}) {
  const database = await featureDatabase();
  const clock = { time: Date.parse('2026-11-20T12:00:00.000Z') };
  const now = () => clock.time;
  const raised: DeviceIncident[] = [];
  const recorded: FoundOnDevice[] = [];
  const settled: [path: string, is_deleted: boolean][] = [];
  const nudged: string[] = [];
  const world = {
    limit: 10,
    rules: new Map<string, { rev: number; rules: Rule[] }>(),
    raised,
    recorded,
    settled,
    nudged,
    scans: new Map<string, Scan>(),
    /** Keys of devices that ask this server for names. */
    name_keys: new Map<string, string>(),
    /** Called before an alert is raised and before a scan is recorded: throws in place of a database that is away. */
    beforeRaise: () => {},
    beforeRecord: () => {},
  };
  const rulesOf = (user_id: string) => world.rules.get(user_id) ?? { rev: 0, rules: [] };
  const rules = {
    enforced: async (user_id: string) => rulesOf(user_id),
    rev: async (user_id: string) => rulesOf(user_id).rev,
    ruleIds: async (user_id: string) => rulesOf(user_id).rules.map(({ id }) => id),
  };
  const jobs = heldJobs();
  const raise = async (incident: DeviceIncident) => {
    world.beforeRaise();
    world.raised.push(incident);
  };
  const nudge = (device_id: string) => void world.nudged.push(device_id);
  const audit = featureAudit(now);
  const secondLooks = createSecondLooks({
    ...{ database, audit, nudge, now },
    scans: async (ids) => ids.flatMap((id) => world.scans.get(id) ?? []),
  });
  const nameKeys = { keyOf: async (id: string) => world.name_keys.get(id) };
  const devices = createDevices({ database, audit, rules, raise, secondLooks, nudge, jobs, now });
  const measuredSessions = createMeasuredSessions({ database, nudge, now });
  const agents = createAgents({
    ...{ database, rules, raise, measuredSessions, secondLooks, nameKeys, now, findings_kept },
    records: {
      async add(_transaction, found) {
        world.beforeRecord();
        return () => void world.recorded.push(found);
      },
      settle:
        async (_transaction, { path }, is_deleted) =>
        () =>
          void world.settled.push([path, is_deleted]),
    },
    signatureEditions: { current: async () => null },
    grantedOf: async () => undefined,
  });
  const enrolment = createEnrolment({
    ...{ database, audit, now },
    counters: createMemoryCounters({ now }),
    limitOf: async () => world.limit,
  });

  const newPerson = () => addPerson(database);

  async function enrol(user_id: string, parts: Parameters<typeof computer>[1] = {}): Promise<AgentIdentity> {
    const { code } = await enrolment.newCode(user_id);
    const { device_id, token } = await enrolment.enrol(computer(code.replace('-', ''), parts), ORIGIN);
    const row = await rowOf(device_id);
    await devices.confirm(row, keyFingerprint(row.public_key));
    world.nudged.pop();
    return { device_id, token };
  }

  async function connect(identity: AgentIdentity, parts: Partial<Hello> = {}): Promise<AgentPrincipal> {
    const met = await agents.connect(helloOf(identity, { at: new Date(clock.time).toISOString(), ...parts }));
    if ('refused' in met) throw new Error(met.refused);
    return met.principal;
  }

  async function rowOf(id: string): Promise<DeviceRow> {
    const row = await devices.find(id);
    if (row === undefined) throw new Error('no device');
    return row;
  }

  /** A person with a device whose agent is connected. */
  async function withDevice(parts: Partial<Hello> = {}) {
    const user_id = await newPerson();
    const identity = await enrol(user_id);
    const id = identity.device_id;
    const agent = await connect(identity, parts);
    const desired = async () => {
      const state = await agents.desired(id);
      if (state === undefined) throw new Error('no state');
      return state.desired;
    };
    return {
      ...{ user_id, identity, id, agent, desired },
      row: () => rowOf(id),
      device: async () => await devices.read(await rowOf(id)),
      hear: (said: Said) => agents.hear(agent, said),
      findings: (): Promise<DeviceFinding[]> => devices.findings(user_id, { limit: 100 }),
      looks: async (): Promise<SecondLook[]> => (await desired()).second_looks,
      doer: { origin: ORIGIN, actor_id: user_id },
    };
  }

  return {
    ...{ database, clock, world, devices, agents, enrolment, secondLooks, measuredSessions },
    ...{ newPerson, enrol, connect, rowOf, withDevice },
    /** Looks for devices that have been silent for long. */
    lookForSilence: () => jobs.run('device-silence'),
    /** Sets the rules of a person; each call is one revision more. */
    setRules(user_id: string, list: readonly Partial<Rule>[]): Rule[] {
      const full = list.map((rule) => ({
        ...({ id: newId(), rule_name: 'Web', direction: 'inbound', action: 'allow', protocol: 'tcp', source_ip: '*' } as const),
        ...{ destination_ip: '*', port: '443', enabled: true, created_at: new Date(clock.time).toISOString() },
        ...{ expires_at: null, device_ids: [] },
        ...rule,
      }));
      world.rules.set(user_id, { rev: rulesOf(user_id).rev + 1, rules: full });
      return full;
    },
  };
}
