import { PRESENCE_LEASE_MS, type Presence } from './presence.ts';

/** Presence in this process, by a monotonic clock. */
export function createMemoryPresence(options: { lease_ms?: number | undefined } = {}): Presence {
  const { lease_ms = PRESENCE_LEASE_MS } = options;
  /** By group, then by place: the member, and the end of its lease. */
  const groups = new Map<string, Map<string, { member: string; until: number }>>();

  return {
    hold(holds) {
      for (const { group, member, place } of holds) {
        const places = groups.get(group) ?? new Map<string, { member: string; until: number }>();
        places.set(`${member} ${place}`, { member, until: performance.now() + lease_ms });
        groups.set(group, places);
      }
      return Promise.resolve();
    },

    release({ group, member, place }) {
      const places = groups.get(group);
      places?.delete(`${member} ${place}`);
      if (places?.size === 0) groups.delete(group);
      return Promise.resolve();
    },

    members(group) {
      const places = groups.get(group) ?? new Map<string, { member: string; until: number }>();
      for (const [key, { until }] of places) if (until <= performance.now()) places.delete(key);
      if (places.size === 0) groups.delete(group);
      return Promise.resolve(new Set([...places.values()].map(({ member }) => member)));
    },

    close: () => groups.clear(),
  };
}
