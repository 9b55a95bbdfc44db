import type { Signal } from '@palisade/contract/remote-signal';
import { readFingerprintCode } from './fingerprint-code.ts';

/** The reason why no connection could be established. */
export type Missing = 'relay' | 'relay_access' | 'relay_answer' | 'other_side';

/** `lost`: the connection broke and is being restored. */
export type Link = { state: 'waiting' | 'connecting' | 'connected' | 'lost' } | { state: 'failed'; missing: Missing };

/** STUN and TURN servers from the server. Relay credentials are valid for a limited time. */
export type IceServers = RTCIceServer[];

/** Time until a connection attempt counts as failed, in ms. */
export const LINK_PATIENCE = 15_000;
/** Longest interruption before a new connection is tried, in ms. Most connections recover sooner. */
export const LOST_PATIENCE = 1_500;
const RELAY = /^turns?:/u;
/** Relay error codes for invalid or expired credentials (RFC 8489 section 14.8, RFC 8656 section 5). */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 438, 441]);

type Candidate = Extract<Signal, { type: 'candidate' }>;

const KEY: EcKeyGenParams = { name: 'ECDSA', namedCurve: 'P-256' };
let ownCertificate: Promise<RTCCertificate> | undefined;

/** One certificate for the life of the page, so that the code that was read aloud stays the same after a reconnection. */
export function certificateOfPage(): Promise<RTCCertificate> {
  ownCertificate ??= RTCPeerConnection.generateCertificate(KEY);
  return ownCertificate;
}

/** The part of a connection that both sides share: ordered candidates, timeout and state. */
export interface Connection {
  pc: RTCPeerConnection;
  /** Runs steps one after the other, because no candidate can be added while a description is being set. */
  inTurn: (step: () => Promise<void>) => void;
  takeCandidate: (signal: Candidate) => void;
  setRemote: (description: { type: 'offer' | 'answer'; sdp: string }) => Promise<void>;
  /** Starts the timeout: without a connection after `LINK_PATIENCE`, the state is `failed`. */
  watch: () => void;
  close: () => void;
}

interface ConnectionParts {
  connection_id: string;
  iceServers: IceServers;
  certificate: RTCCertificate;
  onLink: (link: Link) => void;
  onCandidate: (candidate: Candidate) => void;
  /** An established connection has broken. */
  onLost: () => void;
}

export function createConnection({ connection_id, iceServers, certificate, ...parts }: ConnectionParts): Connection {
  const { onLink, onCandidate, onLost } = parts;
  // One transport for all media: `max-bundle` halves the candidates to gather and the requests to the relay.
  const pc = new RTCPeerConnection({ iceServers, certificates: [certificate], bundlePolicy: 'max-bundle' });
  const hasRelay = iceServers.some(({ urls }) => [urls].flat().some((url) => RELAY.test(url)));
  const early: RTCIceCandidateInit[] = [];
  let relay: 'silent' | 'refused' | 'there' = 'silent';
  let hasAnswered = false;
  let wasConnected = false;
  let steps = Promise.resolve();
  let patience: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  function missing(): Missing {
    if (!hasAnswered) return 'other_side';
    if (!hasRelay) return 'relay';
    if (relay === 'refused') return 'relay_access';
    return relay === 'silent' ? 'relay_answer' : 'other_side';
  }

  function watch(): void {
    clearTimeout(patience);
    // Reset for each attempt: the earlier relay may be gone.
    relay = 'silent';
    // An ICE restart keeps the connected state until it finds a better route.
    if (pc.connectionState === 'connected') return;
    onLink({ state: wasConnected ? 'lost' : 'connecting' });
    patience = setTimeout(() => onLink({ state: 'failed', missing: missing() }), LINK_PATIENCE);
  }

  function inTurn(step: () => Promise<void>): void {
    steps = steps.then(step).catch((error: unknown) => {
      // A closed connection rejects the remaining steps; any other error is a fault of one side.
      if (pc.connectionState !== 'closed') console.error(error);
    });
  }

  pc.addEventListener('icecandidate', ({ candidate }) => {
    if (!candidate || candidate.candidate === '') return;
    if (candidate.type === 'relay') relay = 'there';
    onCandidate({
      type: 'candidate',
      connection_id,
      candidate: candidate.candidate,
      sdp_mid: candidate.sdpMid,
      sdp_mline_index: candidate.sdpMLineIndex,
      username_fragment: candidate.usernameFragment,
    });
  });
  pc.addEventListener('icecandidateerror', ({ url, errorCode }) => {
    if (RELAY.test(url) && relay === 'silent' && REFUSED.has(errorCode)) relay = 'refused';
  });
  pc.addEventListener('connectionstatechange', () => {
    clearTimeout(silence);
    switch (pc.connectionState) {
      case 'connected':
        clearTimeout(patience);
        wasConnected = true;
        onLink({ state: 'connected' });
        break;
      case 'disconnected':
        onLink({ state: 'lost' });
        silence = setTimeout(onLost, LOST_PATIENCE);
        break;
      case 'failed':
        // Before the first connection, the timeout reports the failure with the missing part.
        if (wasConnected) onLost();
        break;
      case 'new':
      case 'connecting':
      case 'closed':
        break;
    }
  });

  return {
    pc,
    inTurn,
    takeCandidate(signal) {
      if (signal.candidate === '') return;
      const init = {
        candidate: signal.candidate,
        sdpMid: signal.sdp_mid,
        sdpMLineIndex: signal.sdp_mline_index,
        usernameFragment: signal.username_fragment,
      };
      if (pc.remoteDescription) inTurn(() => pc.addIceCandidate(init));
      else early.push(init);
    },
    async setRemote(description) {
      await pc.setRemoteDescription(description);
      hasAnswered = true;
      for (const candidate of early.splice(0)) await pc.addIceCandidate(candidate);
    },
    watch,
    close() {
      clearTimeout(patience);
      clearTimeout(silence);
      pc.close();
    },
  };
}

export async function tellCode({ pc }: Connection, onCode: (code: string | undefined) => void): Promise<void> {
  const [local, remote] = [pc.localDescription?.sdp, pc.remoteDescription?.sdp];
  if (local !== undefined && remote !== undefined) onCode(await readFingerprintCode(local, remote));
}
