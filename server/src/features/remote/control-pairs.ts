import { RFB_CLOSED, RFB_WAITING_BYTES } from '@palisade/contract/remote-control';
import { newId } from '#platform/id.ts';
import { controlTopic, type Topics } from '#platform/topics/topics.ts';

/** The two ends that exchange RFB: the technician's page, and the agent of the device. */
export type EndSide = 'viewer' | 'screen';

/** A socket of one end as pairs use it. */
export interface EndSocket {
  send(bytes: Buffer, sent: () => void): void;
  /** Bytes that are not sent yet. */
  waiting(): number;
  paired(): void;
  pause(): void;
  resume(): void;
  end(refusal: { code: number; reason: string }): void;
}

export interface End {
  /** Passes bytes to the other end. Returns false if there is none (yet). */
  pass(bytes: Buffer): boolean;
  /** The socket has closed. Returns whether it was part of a pair. */
  leave(): boolean;
}

interface Joined {
  id: string;
  side: EndSide;
  socket: EndSocket;
  /** The other end: a socket here, or the id of one on another server. */
  peer: Joined | string | undefined;
  /** Bytes under way to an end on another server. */
  unread: number;
  isGone: boolean;
}

const AGAIN = { code: RFB_CLOSED.again, reason: 'The other side has reconnected.' };
const GONE = { code: RFB_CLOSED.again, reason: 'The other side has disconnected.' };
const TAKEN = { code: RFB_CLOSED.not_granted, reason: 'Another of your pages controls this device.' };

/**
 * Pairs of ends. Two on one server are joined directly. Two on different servers announce themselves in the topic of their session and exchange bytes through it, at most as
 * many as the other end reads.
 */
export function createControlPairs(topics: Pick<Topics, 'listen' | 'publish'>) {
  const here = new Map<string, Map<EndSide, Joined>>();

  return {
    join(session_id: string, side: EndSide, socket: EndSocket): End {
      const one: Joined = { id: newId(), side, socket, peer: undefined, unread: 0, isGone: false };
      const other_side = side === 'viewer' ? 'screen' : 'viewer';
      const publish = (said: Extract<Parameters<Topics['publish']>[1], { kind: 'remote_pipe' }>['said']) =>
        topics.publish(controlTopic(session_id), { kind: 'remote_pipe', session_id, said });
      const ends = here.get(session_id) ?? new Map<EndSide, Joined>();
      here.set(session_id, ends);

      const replaced = () => socket.end(side === 'viewer' ? TAKEN : AGAIN);
      function pairWith(peer: Joined | string): void {
        one.peer = peer;
        socket.paired();
      }

      ends.get(side)?.socket.end(side === 'viewer' ? TAKEN : AGAIN);
      ends.set(side, one);

      function meet(): void {
        if (one.isGone || one.peer !== undefined) return;
        const other = ends.get(other_side);
        if (other === undefined) publish({ what: 'here', from: one.id, side, to: null });
        else if (other.peer !== undefined) other.socket.end(AGAIN);
        else {
          other.peer = one;
          other.socket.paired();
          pairWith(other);
        }
      }

      const stop = topics.listen(controlTopic(session_id), undefined, {
        // After the subscription, so that the answers arrive.
        onStart: () => queueMicrotask(meet),
        onLost: () => socket.end(AGAIN),
        onEvent({ event }) {
          if (event.kind !== 'remote_pipe' || one.isGone) return;
          const { said } = event;
          if (said.what === 'here') {
            if (said.from === one.id) return;
            // An end of this server, said before this one came: `meet` joins both, and the news of it may arrive after that.
            if (ends.get(other_side)?.id === said.from) return;
            if (said.side === side) {
              // A newer socket replaced this one on another server; of two here the later one is already in place.
              if (ends.get(side) === one && said.to === null) replaced();
            } else if (said.to === null) {
              if (one.peer !== undefined) socket.end(AGAIN);
              else {
                publish({ what: 'here', from: one.id, side, to: said.from });
                pairWith(said.from);
              }
            } else if (said.to === one.id && one.peer === undefined) pairWith(said.from);
          } else if (said.to !== one.id) {
            return;
          } else if (said.what === 'bytes') {
            const bytes = Buffer.from(said.bytes, 'base64');
            const from = one.peer;
            socket.send(bytes, () => {
              if (typeof from === 'string') publish({ what: 'read', to: from, bytes: bytes.length });
            });
          } else if (said.what === 'read') {
            one.unread -= said.bytes;
            if (one.unread < RFB_WAITING_BYTES / 2) socket.resume();
          } else {
            socket.end(GONE);
          }
        },
      });

      return {
        pass(bytes) {
          const { peer } = one;
          if (peer === undefined) return false;
          if (typeof peer === 'string') {
            one.unread += bytes.length;
            publish({ what: 'bytes', to: peer, bytes: bytes.toString('base64') });
            if (one.unread > RFB_WAITING_BYTES) socket.pause();
            return true;
          }
          peer.socket.send(bytes, () => {
            if (peer.socket.waiting() < RFB_WAITING_BYTES / 2) socket.resume();
          });
          if (peer.socket.waiting() > RFB_WAITING_BYTES) socket.pause();
          return true;
        },

        leave() {
          if (one.isGone) return false;
          one.isGone = true;
          stop();
          if (ends.get(side) === one) ends.delete(side);
          if (ends.size === 0) here.delete(session_id);
          const { peer } = one;
          if (typeof peer === 'string') publish({ what: 'gone', to: peer });
          else peer?.socket.end(GONE);
          return peer !== undefined;
        },
      };
    },
  };
}

export type ControlPairs = ReturnType<typeof createControlPairs>;
