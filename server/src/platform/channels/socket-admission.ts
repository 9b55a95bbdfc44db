import type { WebSocket } from 'ws';

/** A socket that has not been authenticated yet. */
export interface Stranger {
  socket: WebSocket;
  source: string;
}

interface Place {
  /** Ordered by arrival: the one that has been silent longest is first. */
  silent: Set<Stranger>;
  /** Number of strangers whose first frame is being checked. */
  talking: number;
}

/** Limits on unauthenticated sockets: in all, and per source. */
export interface SocketAdmissionLimits {
  strangers: number;
  strangers_per_source: number;
}

/** Tracks unauthenticated sockets, in all and per source. */
export interface SocketAdmission {
  /** Admits a socket. If there are too many, the one that has been silent longest is closed: a real peer authenticates as soon as it is connected. */
  enter(stranger: Stranger): void;
  /** The first frame of the socket arrived and is being checked. */
  talk(stranger: Stranger): void;
  /** The socket was authenticated, or closed. */
  leave(stranger: Stranger): void;
  /** Whether the first frames of all sockets are being checked, so that none can be closed for a new one. */
  isFull(source: string): boolean;
}

export function createSocketAdmission(limits: SocketAdmissionLimits, putOut: (socket: WebSocket) => void): SocketAdmission {
  const all: Place = { silent: new Set(), talking: 0 };
  const bySource = new Map<string, Place>();
  const talkers = new Set<Stranger>();
  const placeOf = (source: string): Place => bySource.get(source) ?? { silent: new Set(), talking: 0 };
  const placesOf = (source: string) => [
    { place: all, most: limits.strangers },
    { place: placeOf(source), most: limits.strangers_per_source },
  ];
  const isFull = ({ place, most }: { place: Place; most: number }) => place.silent.size + place.talking >= most;

  return {
    enter(stranger) {
      for (const counted of placesOf(stranger.source)) {
        const [longest] = counted.place.silent;
        if (longest === undefined || !isFull(counted)) continue;
        for (const { place } of placesOf(longest.source)) place.silent.delete(longest);
        putOut(longest.socket);
      }
      bySource.set(stranger.source, placeOf(stranger.source));
      for (const { place } of placesOf(stranger.source)) place.silent.add(stranger);
    },

    talk(stranger) {
      talkers.add(stranger);
      for (const { place } of placesOf(stranger.source)) {
        place.silent.delete(stranger);
        place.talking += 1;
      }
    },

    leave(stranger) {
      const wasTalking = talkers.delete(stranger);
      for (const { place } of placesOf(stranger.source)) {
        place.silent.delete(stranger);
        if (wasTalking) place.talking -= 1;
      }
      const { silent, talking } = placeOf(stranger.source);
      if (silent.size + talking === 0) bySource.delete(stranger.source);
    },

    isFull: (source) => placesOf(source).some((counted) => isFull(counted) && counted.place.silent.size === 0),
  };
}
