import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { arch, hostname, platform, release, type } from 'node:os';
import { join } from 'node:path';
import {
  deviceTokenSchema,
  downloadSignatures,
  enrolDevice,
  fingerprintOf,
  leaveDevice,
  type Os,
  type Signatures,
  sendForSecondLook,
  verifyDevice,
} from '@palisade/contract/agent';
import { idSchema } from '@palisade/contract/fields';
import { problemSchema } from '@palisade/contract/problem';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import { createStore, type Store } from '#agent/store.ts';
import agent from '#package' with { type: 'json' };
import { addressOf, download, failureOf, post, type Sent, sendFile } from './call.ts';

/** The device's identity at its server. The file is readable by its owner only. */
const identitySchema = z.object({
  server: z.url(),
  device_id: idSchema,
  token: deviceTokenSchema,
  device_name: z.string(),
  public_key: z.string(),
  private_key: z.string(),
});
export type Identity = z.infer<typeof identitySchema>;

export const identityStore = (folder: string): Store<Identity> => createStore(join(folder, 'identity.json'), identitySchema);

/** The fingerprint that the server's page shows for this device. */
export const keyFingerprint = ({ public_key }: Pick<Identity, 'public_key'>) =>
  fingerprintOf(hash('sha256', Buffer.from(public_key, 'base64'), 'hex'));

/** A refusal; its message is a sentence for the user of the command. */
export class Refused extends Error {}

/** Version of the agent's package, included in the bundle at build time. */
export const AGENT_VERSION = agent.version;
const TRIAL_ATTEMPT_MS = 5_000;
const BETWEEN_ATTEMPTS_MS = 1_000;
const HOSTNAME_LENGTH = 253;

function describeOs(): Os {
  const kind = platform();
  const known = { linux: 'linux', darwin: 'darwin', win32: 'windows' } as const;
  let name = `${type()} ${release()}`;
  try {
    name = /^PRETTY_NAME="?([^"\n]+)"?$/mu.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? name;
  } catch {
    // On a system without this file, the kernel's name is used.
  }
  return {
    platform: kind === 'linux' || kind === 'darwin' || kind === 'win32' ? known[kind] : 'other',
    name: lineOf(name, 200),
    arch: arch(),
  };
}

/** Whether the address is https, or plain http to this computer. */
export function isSafeServer(server: URL): boolean {
  return (
    server.protocol === 'https:' ||
    (server.protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(server.hostname))
  );
}

/**
 * Enrols this computer as a device.
 * @throws Refused with a sentence
 */
export async function enrol(server: URL, code: string, before: Identity | undefined): Promise<Identity> {
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
  // A computer that enrols again keeps its key, and so stays the same device.
  const public_key = before?.public_key ?? pair.publicKey.toString('base64');
  const private_key = before?.private_key ?? pair.privateKey.toString('base64');
  const answer = await post(addressOf(server, enrolDevice.path), {
    code,
    hostname: lineOf(hostname(), HOSTNAME_LENGTH),
    os: describeOs(),
    public_key,
    agent_version: AGENT_VERSION,
  }).catch((error: unknown) => {
    throw new Refused(`The server ${server.href} could not be reached: ${failureOf(error)}.`);
  });
  if (answer.status !== enrolDevice.status) {
    const problem = problemSchema.safeParse(answer.body).data;
    throw new Refused(problem?.errors?.[0]?.message ?? problem?.detail ?? `The server answered ${answer.status}.`);
  }
  const reply = enrolDevice.reply?.safeParse(answer.body);
  if (reply?.success !== true) throw new Refused('The server answered something that this agent does not understand.');
  return { server: server.href, ...reply.data, public_key, private_key };
}

/** Removes this device from the server. The result does not stop the uninstallation. */
export async function leave({ server, device_id, token }: Identity): Promise<boolean> {
  return await post(addressOf(new URL(server), leaveDevice.path), { device_id, token }, { proof: { device_id, token } }).then(
    ({ status }) => status === leaveDevice.status,
    () => false,
  );
}

const DOWNLOAD_MS = 10 * 60_000;

/** Downloads a signature set to a file. @throws Error if it is missing or incomplete */
export async function downloadSet(
  { server, device_id, token }: Identity,
  { version, bytes }: Pick<Signatures, 'version' | 'bytes'>,
  path: string,
  lookup: LookupFunction,
): Promise<void> {
  const options = { timeout_ms: DOWNLOAD_MS, bytes_maximum: bytes, lookup, proof: { device_id, token } };
  const status = await download(
    addressOf(new URL(server), downloadSignatures.path),
    { device_id, token, version },
    path,
    options,
  );
  if (status !== downloadSignatures.status) throw new Error(`the server answered ${status}`);
}

/** Idle timeout while the server receives and scans a file, in ms. */
const SECOND_LOOK_SILENCE_MS = 15 * 60_000;

/** Uploads a file that the server requested. @throws Error without a response */
export async function sendFound(
  { server, device_id, token }: Identity,
  order_id: string,
  file: { size: number; read: () => AsyncIterable<Buffer> },
  { lookup, signal }: { lookup: LookupFunction; signal: AbortSignal },
): Promise<Sent> {
  const url = addressOf(new URL(server), sendForSecondLook.path);
  url.search = new URLSearchParams({ device_id, order_id }).toString();
  return await sendFile(
    url,
    { proof: { device_id, token }, field: sendForSecondLook.upload ?? '', file },
    { silence_ms: SECOND_LOOK_SILENCE_MS, lookup, signal },
  );
}

type Verified = { is: 'known' } | { is: 'revoked' } | { is: 'unreached'; reason: string };

/** Requests a nonce once, over a new connection. */
async function askOnce({ server, device_id, token }: Identity, timeout_ms: number): Promise<Verified> {
  const nonce = randomBytes(16).toString('hex');
  try {
    const { status, body } = await post(
      addressOf(new URL(server), verifyDevice.path),
      { device_id, token, nonce },
      { timeout_ms, proof: { device_id, token } },
    );
    if (status === verifyDevice.status) {
      const reply = verifyDevice.reply?.safeParse(body);
      return reply?.data?.nonce === nonce ? { is: 'known' } : { is: 'unreached', reason: 'something else answers in its place' };
    }
    if (status === 401 && problemSchema.safeParse(body).data?.code === 'device_revoked') return { is: 'revoked' };
    return { is: 'unreached', reason: `it answered ${status}` };
  } catch (error) {
    return { is: 'unreached', reason: failureOf(error) };
  }
}

/** Tries to reach the server over a new connection within `within_ms`. Returns undefined on success, otherwise the reason. */
export async function verify(identity: Identity, within_ms: number): Promise<string | undefined> {
  const until = Date.now() + within_ms;
  for (;;) {
    const asked = await askOnce(identity, Math.max(1, Math.min(TRIAL_ATTEMPT_MS, until - Date.now())));
    // The answer "revoked" also shows that the server was reached.
    if (asked.is !== 'unreached') return undefined;
    if (Date.now() + BETWEEN_ATTEMPTS_MS >= until) return asked.reason;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_ATTEMPTS_MS));
  }
}

/** Asks the server whether this device is revoked; undefined without a definite answer. */
export async function askRevoked(identity: Identity): Promise<boolean | undefined> {
  const asked = await askOnce(identity, TRIAL_ATTEMPT_MS);
  return asked.is === 'unreached' ? undefined : asked.is === 'revoked';
}
