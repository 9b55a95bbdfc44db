import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  AGENT_PATH,
  type Desired,
  enrolDevice,
  type Hello,
  type Report,
  type Said,
  type ScanReport,
  type Told,
  toldSchema,
} from '@palisade/contract/agent';
import { confirmDevice, createEnrolmentCode, readDevice } from '@palisade/contract/devices';
import { eventually } from '@palisade/scanner/test/eventually';
import { onTestFinished } from 'vitest';
import { replyOf, type TestApp } from './harness.ts';

/** An agent as the server sees it: an identity and frames. It parses the server's frames by the contract. */
export interface AgentIdentity {
  device_id: string;
  token: string;
}

export const newKey = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

export function computer(code: string, parts: { hostname?: string; public_key?: string } = {}) {
  return {
    ...{ code, hostname: 'laptop', public_key: newKey(), agent_version: '3.7.9' },
    os: { platform: 'linux' as const, name: 'Debian GNU/Linux 12 (bookworm)', arch: 'x64' },
    ...parts,
  };
}

/** Makes a computer a device of the session's person. */
export async function enrol(
  { call }: Pick<TestApp, 'call'>,
  token: string,
  parts: { hostname?: string; public_key?: string } = {},
): Promise<AgentIdentity> {
  const { code } = replyOf(await call(createEnrolmentCode, { token }));
  const { device_id, token: device_token } = replyOf(await call(enrolDevice, { body: computer(code, parts) }));
  const params = { id: device_id };
  const { fingerprint } = replyOf(await call(readDevice, { token, params }));
  replyOf(await call(confirmDevice, { token, params, body: { fingerprint } }));
  return { device_id, token: device_token };
}

export function helloOf({ device_id, token }: AgentIdentity, parts: Partial<Hello> = {}): Hello {
  return {
    ...{ kind: 'hello', device_id, token, instance: randomBytes(16).toString('hex'), agent_version: '3.7.9' },
    ...{ applied_rev: 0, ruleset_hash: null, at: new Date().toISOString() },
    capabilities: {
      ...{ firewall: 'nftables', firewall_reason: null, conntrack: true, scanner: true, scanner_reason: null },
      ...{
        watch: true,
        control: true,
        control_reason: null,
        second_look: true,
        second_look_reason: null,
        containers: false,
        parsed_rules: true,
      },
    },
    ...parts,
  };
}

export function reportOf(parts: Partial<Report> = {}): Report {
  return {
    ...{ kind: 'report', seq: 1, epoch: '2026-11-20T10:00:00.000Z', counters: [], blocked: [] },
    ...{ telemetry: null, posture: [], foreign_tables: [], watching: null, health: null, web_protection: null },
    ...parts,
  };
}

export function scanReportOf(parts: Partial<ScanReport> = {}): ScanReport {
  return {
    ...{
      kind: 'scan_report',
      seq: 1,
      job_id: null,
      scan: 'full',
      state: 'running',
      reason: null,
      signatures_version: '1',
      found: [],
    },
    progress: {
      ...{
        files_read: 10,
        files_known: 0,
        files_pending: 0,
        folders_unread: 0,
        files_total: 100,
        is_counted: true,
        bytes_read: 1_000,
      },
      ...{ bytes_per_second: 10, seconds_left: 9, path: '/home/maria/a' },
    },
    ...parts,
  };
}

/** An agent on a socket. */
export class AgentDouble {
  readonly told: Told[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #socket: WebSocket;

  constructor(url: string) {
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/api${AGENT_PATH}`);
    this.#socket.addEventListener('message', ({ data }) => {
      const frame = toldSchema.parse(JSON.parse(String(data)));
      if (frame.kind === 'ping') this.sayRaw({ kind: 'pong' });
      else this.told.push(frame);
    });
    this.#socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason };
    });
    onTestFinished(() => this.#socket.close());
  }

  /** Connects and says hello, and waits for the whole state. */
  static async connect(url: string, identity: AgentIdentity, parts: Partial<Hello> = {}): Promise<AgentDouble> {
    const agent = new AgentDouble(url);
    await agent.hello(identity, parts);
    await agent.desired();
    return agent;
  }

  async hello(identity: AgentIdentity, parts: Partial<Hello> = {}): Promise<void> {
    await eventually(() => {
      if (this.#socket.readyState !== WebSocket.OPEN) throw new Error('not open yet');
    });
    this.sayRaw(helloOf(identity, parts));
  }

  say(frame: Said): void {
    this.sayRaw(frame);
  }

  sayRaw(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  close(): void {
    this.#socket.close();
  }

  /** The latest state that it was sent, as soon as it matches. */
  async desired(matches: (desired: Desired) => boolean = () => true): Promise<Desired> {
    return await eventually(() => {
      const latest = this.told.findLast((frame) => frame.kind === 'desired');
      if (latest?.kind !== 'desired' || !matches(latest)) throw new Error('not told yet');
      return latest;
    });
  }

  /** Says something that is noted, and waits until it is. */
  async report(frame: Said & { seq: number }): Promise<void> {
    this.say(frame);
    await eventually(() => {
      if (!this.told.some((one) => one.kind === 'noted' && one.seq === frame.seq)) throw new Error('not noted yet');
    });
  }

  async ending(): Promise<number> {
    return await eventually(() => {
      if (this.closed === undefined) throw new Error('not closed yet');
      return this.closed.code;
    });
  }
}
