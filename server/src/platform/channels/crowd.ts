import type { WebSocket } from 'ws';

/** A socket that has not been let in yet. */
export interface Stranger {
  socket: WebSocket;
  source: string;
}

interface Place {
  /** The longest silent first. */
  silent: Set<Stranger>;
  /** Number of strangers whose first frame is being checked. */
  talking: number;
}

/** Bounds of a crowd: of everybody, and of one source. */
export interface CrowdLimits {
  strangers: number;
  strangers_per_source: number;
}

/** Sockets that are not authenticated yet, in all and by source. */
export interface Crowd {
  /** Takes somebody in. Where there are too many, whoever has been silent for longest is put out: a peer says who it is as soon as it is there. */
  enter(stranger: Stranger): void;
  /** Has said something, and is looked up. */
  talk(stranger: Stranger): void;
  /** Was let in, or is gone. */
  leave(stranger: Stranger): void;
  /** All of them have said who they are and are being looked up: nobody can be put out for somebody new. */
  isFull(source: string): boolean;
}

export function createCrowd(limits: CrowdLimits, putOut: (socket: WebSocket) => void): Crowd {
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
