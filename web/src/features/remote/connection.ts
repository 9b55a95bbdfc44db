import type { Signal } from '@palisade/contract/remote-signal';
import { readFingerprintCode } from './fingerprint-code.ts';

/** The missing part where no way was found. */
export type Missing = 'relay' | 'relay_access' | 'relay_answer' | 'other_side';

/** `lost`: there was a way, and it is looked for again. */
export type Link = { state: 'waiting' | 'connecting' | 'connected' | 'lost' } | { state: 'failed'; missing: Missing };

/** The servers through which a way is found, as the server names them: what gives access to a relay holds for a while. */
export type IceServers = RTCIceServer[];

/** Time of searching a way before the person reads the missing part, in ms. */
export const LINK_PATIENCE = 15_000;
/** Longest silence of a way before another one is searched, in ms: most recover sooner. */
export const LOST_PATIENCE = 1_500;
const RELAY = /^turns?:/u;
/** Refusals of a relay (RFC 8489 section 14.8, RFC 8656 section 5): not known to it, or not any more. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 438, 441]);

/** States of a way, for both sides. */
type Candidate = Extract<Signal, { type: 'candidate' }>;

const KEY: EcKeyGenParams = { name: 'ECDSA', namedCurve: 'P-256' };
let ownCertificate: Promise<RTCCertificate> | undefined;

/** One for the life of the page, so that the code that was read aloud stays the same when the way breaks. */
export function certificateOfPage(): Promise<RTCCertificate> {
  ownCertificate ??= RTCPeerConnection.generateCertificate(KEY);
  return ownCertificate;
}

/** One connection with what both sides do alike: its candidates in order, its clock, what it says of itself. */
export interface Connection {
  pc: RTCPeerConnection;
  /** Does one step after the other: a description that is being set takes no candidate. */
  inTurn: (step: () => Promise<void>) => void;
  takeCandidate: (signal: Candidate) => void;
  setRemote: (description: { type: 'offer' | 'answer'; sdp: string }) => Promise<void>;
  /** From now on the way is looked for; after `LINK_PATIENCE` it has failed. */
  watch: () => void;
  close: () => void;
}

interface ConnectionParts {
  connection_id: string;
  iceServers: IceServers;
  certificate: RTCCertificate;
  onLink: (link: Link) => void;
  onCandidate: (candidate: Candidate) => void;
  /** There was a way, and there is none any more. */
  onLost: () => void;
}

export function createConnection({ connection_id, iceServers, certificate, ...parts }: ConnectionParts): Connection {
  const { onLink, onCandidate, onLost } = parts;
  // One way for all that a connection has: half as much is gathered, and asked of a relay, as with one for each of its parts.
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
    // Asked anew for this way: the relay of the last one may be gone.
    relay = 'silent';
    // A way that holds stays one while a better one is looked for.
    if (pc.connectionState === 'connected') return;
    onLink({ state: wasConnected ? 'lost' : 'connecting' });
    patience = setTimeout(() => onLink({ state: 'failed', missing: missing() }), LINK_PATIENCE);
  }

  function inTurn(step: () => Promise<void>): void {
    steps = steps.then(step).catch((error: unknown) => {
      // A closed connection refuses the steps that are left; anything else is a fault of one of the two sides.
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
        // Before there was a way its clock says so, with what is missing.
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
